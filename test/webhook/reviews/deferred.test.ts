import { afterEach, describe, expect, test } from 'vitest';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import {
  metricOf,
  openTls,
  readAll,
  review,
  send,
  start,
  stopAll,
  testAdmission,
  until,
  validate,
} from '../../server/running.ts';

afterEach(stopAll);

/** A server whose decisions wait until a test lets them go. */
async function waiting(limits: NonNullable<Parameters<typeof start>[0]>['limits'] = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const server = await start({
    limits,
    admission: {
      ...testAdmission,
      validate: (request) => ({
        ...testAdmission.validate(request),
        probe: { config: {} as ExtensionConfig, facts: undefined, conclude: () => testAdmission.validate(request) },
      }),
    },
    async probe() {
      asked++;
      await promise;
      return [];
    },
  });
  return { ...server, letGo: resolve, isAsked: () => asked > 0 };
}

describe('a decision that takes long', () => {
  test('is sent when it arrives, and its client does not count as stalled meanwhile', async () => {
    const { webhookPort, lines, letGo, isAsked } = await waiting({ maxConnections: 1, stallTimeoutMs: 0 });
    const answer = send(webhookPort, validate, review('x'));
    await until(isAsked, 'it is being decided');
    for (let client = 0; client < 3; client++) {
      await expect(send(webhookPort, validate, review('y'))).rejects.toThrow();
    }
    expect(lines.filter(({ webhook }) => webhook !== undefined)).toEqual([]);
    letGo();
    expect((await answer).json().response.uid).toBe('uid-of-x');
    expect(lines.filter(({ webhook }) => webhook !== undefined)).toMatchObject([{ uid: 'uid-of-x' }]);
  });

  test('is neither sent nor logged if the client has disconnected', async () => {
    const { webhookPort, health, lines, letGo, isAsked } = await waiting();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    const body = review('x');
    socket.write(
      `POST ${validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(isAsked, 'it is being decided');
    expect(await metricOf(health, 'requests_in_flight')).toBe(1);
    socket.destroy();
    await until(async () => (await metricOf(health, 'requests_in_flight')) === 0, 'the server knows');
    letGo();
    expect((await send(webhookPort, validate, review('y'))).code).toBe(200);
    expect(await received).toBe('');
    expect(lines.filter(({ webhook }) => webhook !== undefined)).toMatchObject([{ uid: 'uid-of-y' }]);
    expect(await metricOf(health, 'in_flight_bytes')).toBe(0);
  });
});
