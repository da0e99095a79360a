import { afterEach, expect, test } from 'vitest';
import { webhookPaths } from '../../src/webhook/index.ts';
import { review, send, start, stopAll, validate } from '../server/running.ts';

const sideThread = { module: new URL('./side-thread-module.ts', import.meta.url), data: { from: 'the operator' } };
const overBytes = 4096;

const large = (text: string) => Buffer.from(text.padEnd(overBytes + 1));

afterEach(stopAll);

const startWith = (timeoutMs: number) => start({ sideThread: { ...sideThread, overBytes, timeoutMs } });

const metric = async (health: string, result: string) => {
  const text = await (await fetch(`${health}/metrics`)).text();
  return Number(new RegExp(`large_bodies_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1]);
};

test('a large body is decided in the thread, a small one is not; both are counted and logged', async () => {
  const { webhookPort, lines, health } = await startWith(20_000);
  const answered = await send(webhookPort, webhookPaths.validate, large('hello'));
  expect(answered.code).toBe(200);
  expect(answered.json()).toEqual({ webhook: 'validate', text: 'hello', data: { from: 'the operator' } });
  expect((await send(webhookPort, validate, review('x'))).json().response.uid).toBe('uid-of-x');
  expect(lines.filter(({ webhook }) => webhook === 'validate')).toMatchObject([
    { uid: 'u', deniedBy: ['r'], msg: 'denied' },
    { uid: 'uid-of-x', msg: 'allowed' },
  ]);
  expect(await metric(health, 'answered')).toBe(1);
  expect(await (await fetch(`${health}/metrics`)).text()).toContain('rule_denials_total{rule="r"} 1');
});

test('a decision without end is a 503 in time; others are served meanwhile, and the next one after it', async () => {
  const { webhookPort, health } = await startWith(1_500);
  const startedMs = performance.now();
  const endless = send(webhookPort, validate, large('loop'));
  let served = 0;
  let isOver = false;
  endless.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
    served++;
  }
  const { code, headers, body } = await endless;
  expect({ code, retry: headers['retry-after'], message: JSON.parse(body).message }).toEqual({
    code: 503,
    retry: '1',
    message: 'the decision took too long: send a smaller object',
  });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(served).toBeGreaterThan(5);
  expect((await send(webhookPort, validate, large('again'))).code).toBe(200);
  expect(await metric(health, 'timeout')).toBe(1);
});

test('a decision that eats memory ends the thread, not the process', async () => {
  const { webhookPort, health } = await startWith(20_000);
  const { code, body } = await send(webhookPort, validate, large('eat'));
  expect({ code, message: JSON.parse(body).message }).toEqual({
    code: 503,
    message: 'the decision took too much memory: send a smaller object',
  });
  expect((await send(webhookPort, validate, large('again'))).code).toBe(200);
  expect(await metric(health, 'failed')).toBe(1);
});

test('bodies wait for each other, but not too many, and each of them is answered', async () => {
  const { webhookPort } = await startWith(20_000);
  const answers = await Promise.all(Array.from({ length: 60 }, () => send(webhookPort, validate, large('wait'))));
  const codes = answers.map(({ code }) => code);
  // One is decided and 32 wait; one more may come once the first is done.
  const taken = codes.filter((code) => code === 200).length;
  expect(taken).toBeGreaterThanOrEqual(33);
  expect(taken).toBeLessThan(50);
  expect(codes.filter((code) => code === 503)).toHaveLength(60 - taken);
  expect(answers.find(({ code }) => code === 503)?.json().message).toContain('too many large requests');
});

test('a body whose caller has gone is not decided', async () => {
  const { webhookPort, health } = await startWith(20_000);
  const gone = send(webhookPort, validate, large('loop'), { timeout: 300, signal: AbortSignal.timeout(500) });
  await expect(gone).rejects.toThrow();
  expect((await send(webhookPort, validate, large('after'))).code).toBe(200);
  expect(await metric(health, 'abandoned')).toBe(1);
});

test('a server that stops answers what is under way, and a thread that does not end does not hold it', async () => {
  const { webhookPort, stop } = await startWith(20_000);
  await send(webhookPort, validate, large('warm'));
  const waiting = send(webhookPort, validate, large('wait'));
  const endless = send(webhookPort, validate, large('loop')).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const startedMs = performance.now();
  await stop({ timeoutMs: 2_000 });
  expect(performance.now() - startedMs).toBeLessThan(8_000);
  expect((await waiting).code).toBe(200);
  expect(await endless).toBeInstanceOf(Error);
});
