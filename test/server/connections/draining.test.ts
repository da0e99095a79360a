import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { keepAliveAgent, openTls, readAll, review, send, start, stopAll, until, validate } from '../running.ts';

afterEach(stopAll);

const generous = { graceMs: 0, timeoutMs: 20_000 };

function requestBytes(name: string): [string, string] {
  const body = review(name);
  const head = `POST ${validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return [head + body.slice(0, 20), body.slice(20)];
}

async function inFlight(health: string): Promise<number> {
  const text = await (await fetch(`${health}/metrics`)).text();
  return Number(/requests_in_flight (\d+)/.exec(text)?.[1]);
}

test('a request in flight is answered with connection: close, and the server ends', async () => {
  const { webhookPort, health, stop } = await start();
  const socket = await openTls(webhookPort);
  const received = readAll(socket);
  const [first, rest] = requestBytes('x');
  socket.write(first);
  await until(async () => (await inFlight(health)) === 1, 'the request is in flight');

  const stopped = stop(generous);
  const readiness = await fetch(`${health}/readyz`);
  expect(readiness.status).toBe(503);
  expect(await readiness.text()).toMatch(/shutting down/);
  expect((await fetch(`${health}/healthz`)).status).toBe(200);
  await expect(openTls(webhookPort)).rejects.toThrow(/ECONNREFUSED/);

  socket.write(rest);
  const text = await received;
  expect(text).toMatch(/^HTTP\/1.1 200 OK.*connection: close.*"allowed":true/is);
  await stopped;
  await expect(fetch(`${health}/healthz`)).rejects.toThrow();
});

test('idle connections do not delay the shutdown, with or without earlier requests', async () => {
  const { webhookPort, stop } = await start();
  const agent = keepAliveAgent();
  await send(webhookPort, validate, review('x'), { agent });
  const fresh = readAll(await openTls(webhookPort));
  const mute = connect(webhookPort, '127.0.0.1');
  const muteClosed = new Promise((resolve) =>
    mute
      .resume()
      .on('error', () => {})
      .once('close', resolve),
  );
  await new Promise((resolve) => mute.once('connect', resolve));
  await stop(generous);
  expect(await fresh).toBe('');
  await muteClosed;
  agent.destroy();
});

test('an idle connection has a grace period, in which a request that was on its way is answered', async () => {
  const { webhookPort, stop } = await start();
  const socket = await openTls(webhookPort);
  const received = readAll(socket);
  const [first, second] = [requestBytes('a').join(''), requestBytes('b').join('')];
  const answered = new Promise((resolve) => socket.once('data', resolve));
  socket.write(first);
  await answered;
  const startedMs = performance.now();
  const stopped = stop({ graceMs: 60_000, timeoutMs: 100_000 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write(second);
  expect(await received).toMatch(/uid-of-a.*connection: close.*uid-of-b/is);
  await stopped;
  // No other connection was open for which to wait until the end of the period.
  expect(performance.now() - startedMs).toBeLessThan(50_000);
});

test('a request that never ends is cut at the timeout', async () => {
  const { webhookPort, health, stop, lines } = await start();
  const socket = await openTls(webhookPort);
  const received = readAll(socket);
  socket.write(requestBytes('x')[0]);
  await until(async () => (await inFlight(health)) === 1, 'the request is in flight');
  await stop({ timeoutMs: 50 });
  expect(await received).toBe('');
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped', connectionsCut: 1 });
});

test('under load, while connections are accepted, no request fails and every client is told to close', async () => {
  const { webhookPort, health, stop } = await start();
  let answered = 0;
  async function callUntilTold(): Promise<void> {
    const agent = keepAliveAgent();
    for (;;) {
      const { code, headers } = await send(webhookPort, validate, review('x'), { agent });
      expect(code).toBe(200);
      answered++;
      if (headers.connection === 'close') {
        agent.destroy();
        return;
      }
    }
  }
  const callers = Promise.all(Array.from({ length: 8 }, callUntilTold));
  await until(() => answered > 40, 'load');
  const stopped = stop({ closeAfter: callers, timeoutMs: 20_000 });
  expect((await fetch(`${health}/readyz`)).status).toBe(503);
  await callers;
  await stopped;
});

test('stopping twice is the same as stopping once', async () => {
  const { stop, lines } = await start();
  await Promise.all([stop(generous), stop(generous)]);
  await stop(generous);
  expect(lines.filter((line) => line.msg === 'stopped')).toHaveLength(1);
});
