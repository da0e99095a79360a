import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { OpenExchange } from '../../../src/server/connections/connection.ts';
import { endTimedOut } from '../../../src/server/connections/timeouts.ts';
import { takeTime } from '../clock.ts';
import { connectionsWith } from './recorded.ts';

const limits = { requestTimeoutMs: 300, responseTimeoutMs: 200 };

/** A connection with a request whose header has just arrived. */
async function withRequest(isHttp2: boolean, request: Partial<OpenExchange> = {}, keepAliveTimeoutMs = 500) {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connections, events } = connectionsWith({ ...limits, keepAliveTimeoutMs });
  const socket = new Socket();
  const destroySoon = vi.spyOn(socket, 'destroySoon');
  connections.open(socket);
  const connection = connections.of(socket)!;
  const session = { socket, close: vi.fn() };
  if (isHttp2) {
    connections.upgrade(session as never);
  }
  const refuseLate = vi.fn();
  const reset = vi.fn(() => {
    exchange.isReset = true;
  });
  const exchange: OpenExchange & { isReset: boolean } = {
    connection,
    startedMs: performance.now(),
    hasArrived: false,
    respondingSince: undefined,
    isDeciding: false,
    isReset: false,
    heldBytes: 0,
    refuseLate,
    reset,
    end() {},
    ...request,
  };
  connections.begin(exchange);
  return {
    connections,
    exchange,
    socket,
    session,
    destroySoon,
    /** What has happened some time later. */
    async after(ms: number) {
      await time.advance(ms);
      endTimedOut(connections);
      return {
        late: refuseLate.mock.calls.length,
        reset: reset.mock.calls.length,
        dropped: events.responseDropped.mock.calls.length,
        isCut: socket.destroyed,
      };
    },
  };
}
const nothing = { late: 0, reset: 0, dropped: 0, isCut: false };

test('a request over HTTP/2 that has not arrived in time is refused, the connection stays', async () => {
  const { after } = await withRequest(true);
  expect(await after(299)).toEqual(nothing);
  expect(await after(1)).toEqual({ ...nothing, late: 1 });
});

test('one over HTTP/1.1 is left to Node.js until its response would be late, too', async () => {
  const { after } = await withRequest(false);
  expect(await after(499)).toEqual(nothing);
  expect(await after(1)).toEqual({ ...nothing, dropped: 1, isCut: true });
});

test.each([false, true])('one that has arrived has that time until its response (HTTP/2: %s)', async (isHttp2) => {
  const { after } = await withRequest(isHttp2, { hasArrived: true });
  expect(await after(499)).toEqual(nothing);
  expect(await after(1)).toEqual({ ...nothing, dropped: 1, ...(isHttp2 ? { reset: 1 } : { isCut: true }) });
});

test('a response that is not read is given up; a connection that cannot even send a reset is cut', async () => {
  const { after } = await withRequest(true, { hasArrived: true, respondingSince: 1_000 });
  expect(await after(199)).toEqual(nothing);
  expect(await after(1)).toEqual({ ...nothing, dropped: 1, reset: 1 });
  expect(await after(0)).toEqual({ ...nothing, dropped: 1, reset: 1, isCut: true });
});

test('pipelined requests wait for each other', async () => {
  const { connections, exchange, after } = await withRequest(false, { hasArrived: true });
  const next = { ...exchange };
  connections.begin(next);
  expect(await after(400)).toEqual(nothing);
  connections.end(exchange);
  expect(await after(499)).toEqual(nothing);
  expect(await after(1)).toEqual({ ...nothing, dropped: 1, isCut: true });
});

test.each([false, true])('an idle connection ends after the keep-alive timeout (HTTP/2: %s)', async (isHttp2) => {
  const { connections, exchange, after, destroySoon, session } = await withRequest(isHttp2, { hasArrived: true });
  connections.end(exchange);
  const end = isHttp2 ? session.close : destroySoon;
  await after(499);
  expect(end).not.toHaveBeenCalled();
  await after(1);
  expect(end).toHaveBeenCalledOnce();
});

test('a connection over HTTP/2 that was told to end, and does not, is cut', async () => {
  const { connections, exchange, after } = await withRequest(true, { hasArrived: true }, 5_000);
  connections.end(exchange);
  connections.close(exchange.connection);
  expect((await after(999)).isCut).toBe(false);
  expect((await after(1)).isCut).toBe(true);
});

test('the progress of a request is noted, so that a stalled one can make room', async () => {
  const { exchange, after } = await withRequest(false);
  await after(0);
  await after(100);
  expect(exchange.connection.isStalled(100)).toBe(true);
});

test.each(['busy', 'idle'])('a connection that sent little but padding is cut, though it is %s', async (state) => {
  const { connections, exchange, socket, after } = await withRequest(true, { hasArrived: true });
  if (state === 'idle') {
    connections.end(exchange);
  }
  expect((await after(0)).isCut).toBe(false);
  Object.defineProperty(socket, 'bytesRead', { value: 5 * 1024 * 1024 });
  expect((await after(0)).isCut).toBe(true);
});
