import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { webhookPaths } from '../../../src/webhook/index.ts';
import { createSideThread, type SideThreadResult } from '../../../src/webhook/reviews/side-thread.ts';
import { metricOf, review, send, start, stopAll, until, validate } from '../../server/running.ts';

const module = new URL('./side-thread-module.ts', import.meta.url);
const overBytes = 4096;

const large = (text: string) => Buffer.from(text.padEnd(overBytes + 1));

afterEach(stopAll);

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const startWith = (timeoutMs: number, data: object = { from: 'the operator' }, maxHeapMib = 64) =>
  start({ sideThread: { module, data, overBytes, timeoutMs, maxHeapMib } });

/** Delays the decision on bodies with `wait` until the gate is opened. */
function newGate() {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  return {
    data: { gate },
    isReached: () => Atomics.load(gate, 1) === 1,
    open() {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
  };
}

const largeBodies = (health: string, result: string) => metricOf(health, `large_bodies_total{result="${result}"}`);

test('a large body is decided in the thread, a small one is not; both are counted and logged', async () => {
  const { webhookPort, lines, health } = await startWith(20_000);
  const answered = await send(webhookPort, webhookPaths.validate, large('hello'));
  expect(answered.code).toBe(200);
  expect(answered.json()).toEqual({ webhook: 'validate', text: 'hello', data: { from: 'the operator' } });
  expect((await send(webhookPort, validate, large('limits'))).json()).toMatchObject({
    maxOldGenerationSizeMb: 64,
    maxYoungGenerationSizeMb: 32,
  });
  expect((await send(webhookPort, validate, review('x'))).json().response.uid).toBe('uid-of-x');
  expect(lines.filter(({ webhook }) => webhook === 'validate')).toMatchObject([
    { uid: 'u', deniedBy: ['r'], msg: 'denied' },
    { uid: 'u', deniedBy: ['r'], msg: 'denied' },
    { uid: 'uid-of-x', msg: 'allowed' },
  ]);
  expect(await largeBodies(health, 'answered')).toBe(2);
  expect(await (await fetch(`${health}/metrics`)).text()).toContain('rule_denials_total{rule="r"} 2');
});

test('many bodies in turn leave no listeners on the thread', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { webhookPort } = await startWith(20_000);
  for (let count = 0; count < 12; count++) {
    expect((await send(webhookPort, validate, large('hello'))).code).toBe(200);
  }
  expect(warnings).toEqual([]);
});

test('an endless decision results in a 503 in time; others are served meanwhile, and the next one after it', async () => {
  const { webhookPort, health } = await startWith(500);
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
    await pause(30);
  }
  const { code, headers, body } = await endless;
  expect({ code, retry: headers['retry-after'], message: JSON.parse(body).message }).toEqual({
    code: 503,
    retry: '1',
    message: 'the decision took too long: send a smaller object',
  });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  expect(served).toBeGreaterThan(0);
  expect(await largeBodies(health, 'timeout')).toBe(1);
  // A new thread has to start within the same time.
  await until(async () => (await send(webhookPort, validate, large('again'))).code === 200, 'the next one is decided');
});

test('a decision that uses up memory ends the thread, not the process', async () => {
  const { webhookPort, health } = await startWith(20_000, undefined, 24);
  const { code, body } = await send(webhookPort, validate, large('eat'));
  expect({ code, message: JSON.parse(body).message }).toEqual({
    code: 503,
    message: 'the decision took too much memory: send a smaller object',
  });
  expect((await send(webhookPort, validate, large('again'))).code).toBe(200);
  expect(await largeBodies(health, 'failed')).toBe(1);
});

test('bodies wait for each other, at most 32 of them, and each gets a response', async () => {
  const gate = newGate();
  const { webhookPort, health } = await startWith(20_000, gate.data);
  const answers = Array.from({ length: 40 }, () => send(webhookPort, validate, large('wait')));
  await until(async () => (await largeBodies(health, 'refused')) === 7, 'what is too much is refused');
  gate.open();
  const codes = (await Promise.all(answers)).map(({ code }) => code);
  expect(codes.filter((code) => code === 200)).toHaveLength(33);
  const refused = (await Promise.all(answers)).find(({ code }) => code === 503);
  expect(refused?.json().message).toBe('too many large requests at once: try again in a second');
  expect((await send(webhookPort, validate, large('then'))).code).toBe(200);
  expect(await largeBodies(health, 'answered')).toBe(34);
});

test('a body whose client has disconnected is not decided', async () => {
  const { webhookPort, health } = await startWith(20_000);
  const caller = new AbortController();
  const gone = send(webhookPort, validate, large('loop'), { signal: caller.signal });
  const rejected = expect(gone).rejects.toThrow();
  await until(async () => (await metricOf(health, 'in_flight_bytes')) > overBytes, 'the body has arrived');
  caller.abort();
  await rejected;
  expect((await send(webhookPort, validate, large('after'))).code).toBe(200);
  expect(await largeBodies(health, 'abandoned')).toBe(1);
});

test('a server that shuts down answers requests in flight, and is not delayed by a thread that does not end', async () => {
  const gate = newGate();
  const { webhookPort, health, stop } = await startWith(20_000, gate.data);
  const waiting = send(webhookPort, validate, large('wait'));
  await until(gate.isReached, 'the thread has the first');
  const endless = send(webhookPort, validate, large('sleep')).catch((error: unknown) => error);
  await until(async () => (await metricOf(health, 'in_flight_bytes')) > 2 * overBytes, 'the second has arrived');
  const startedMs = performance.now();
  const stopped = stop({ timeoutMs: 700 });
  gate.open();
  expect((await waiting).code).toBe(200);
  expect(await endless).toBeInstanceOf(Error);
  await stopped;
  expect(performance.now() - startedMs).toBeLessThan(8_000);
});

test('a thread that is closed ends whatever it is doing, and one that never started can be closed', async () => {
  const results: SideThreadResult[] = [];
  const gate = newGate();
  const thread = createSideThread({ module, data: gate.data, maxHeapMib: 64 }, (result) => results.push(result));
  expect(thread.overBytes).toBe(128 * 1024);
  await thread.close();
  const task = { webhook: 'validate', body: Buffer.from('wait') } as const;
  const reply = thread.decide(task, new AbortController().signal);
  await until(gate.isReached, 'the thread decides');
  await thread.close();
  expect(await reply).toMatchObject({ code: 503, note: { kind: 'refused' } });
  expect(results).toEqual(['failed']);
});

test('a body whose client leaves while it waits gets its response at once, and the thread lives on', async () => {
  const gate = newGate();
  const thread = createSideThread({ module, data: gate.data, maxHeapMib: 64 }, () => {});
  onTestFinished(() => thread.close());
  const decide = (text: string, client = new AbortController()) =>
    thread.decide({ webhook: 'validate', body: Buffer.from(text) }, client.signal);
  const first = (await decide('thread')).text;
  const client = new AbortController();
  const [waiting, abandoned, next] = [decide('wait'), decide('loop', client), decide('thread')];
  client.abort();
  expect(await abandoned).toMatchObject({ code: 503 });
  gate.open();
  expect(await waiting).toMatchObject({ code: 200 });
  expect((await next).text).toBe(first);
});

test('a thread that has had nothing to do for a minute ends; one that decides does not', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  onTestFinished(() => mock.timers.reset());
  const gate = newGate();
  const thread = createSideThread({ module, data: gate.data, maxHeapMib: 64 }, () => {});
  onTestFinished(() => thread.close());
  const decide = (text: string) =>
    thread.decide({ webhook: 'validate', body: Buffer.from(text) }, new AbortController().signal);
  const threadOf = async () => Number((await decide('thread')).text);
  const first = await threadOf();
  mock.timers.tick(59_999);
  expect(await threadOf()).toBe(first);
  // Counted from the last body, while another one waits for its turn.
  mock.timers.tick(59_999);
  const [before, waiting, next] = [threadOf(), decide('wait'), threadOf()];
  expect(await before).toBe(first);
  while (!gate.isReached()) {
    await nextTurn();
  }
  mock.timers.tick(120_000);
  gate.open();
  expect(await waiting).toMatchObject({ code: 200 });
  expect(await next).toBe(first);
  mock.timers.tick(60_000);
  const second = await threadOf();
  expect(second).toBeGreaterThan(first);
  // The end of the first, while the second starts, does not count for the second.
  expect(await threadOf()).toBe(second);
});
