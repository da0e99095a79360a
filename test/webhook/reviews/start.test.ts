import { Gauge } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { mutate, review, send, start, stopAll, validate } from '../../server/running.ts';

afterEach(stopAll);

test.each([
  ['does not convert', undefined, `no such path; the webhooks are ${mutate}, ${validate}`],
  ['converts', () => ({ problem: 'not one' }), `no such path; the webhooks are ${mutate}, ${validate}, /convert`],
])('a webhook that %s lists its paths', async (_, convert, message) => {
  const { webhookPort, health } = await start({ convert });
  const unknown = await send(webhookPort, '/', '{}');
  expect([unknown.code, unknown.json().message]).toEqual([404, message]);
  expect(unknown.headers).not.toHaveProperty('x-powered-by');
  const conversion = await send(webhookPort, '/convert', '{}');
  expect([conversion.code, conversion.json().message]).toEqual(
    convert === undefined ? [404, message] : [400, 'not one'],
  );
  expect((await send(webhookPort, mutate, review('x'))).json().response).toMatchObject({ patchType: 'JSONPatch' });
  expect((await send(webhookPort, validate, review('denied'))).json().response).toMatchObject({ allowed: false });
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toContain(
    `extensionconfig_webhook_http_refusals_total{code="404"} ${convert === undefined ? 2 : 1}\n`,
  );
});

test('the log contains the port of the webhooks', async () => {
  const { webhookPort, healthPort, lines } = await start();
  expect(lines.find(({ msg }) => msg === 'listening')).toEqual({
    level: 30,
    msg: 'listening',
    webhookPort,
    healthPort,
    host: '127.0.0.1',
  });
});

test('an application can add metrics', async () => {
  const prefixes: string[] = [];
  const { health } = await start({
    addMetrics(registry, prefix) {
      prefixes.push(prefix);
      new Gauge({ name: `${prefix}mine`, help: 'x', registers: [registry] }).set(7);
    },
  });
  expect(prefixes).toEqual(['extensionconfig_webhook_']);
  expect(await (await fetch(`${health}/metrics`)).text()).toContain('extensionconfig_webhook_mine 7\n');
});
