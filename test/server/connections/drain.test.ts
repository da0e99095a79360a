import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { drain, type StopOptions } from '../../../src/server/connections/drain.ts';
import { takeTime } from '../clock.ts';
import { connectionsWith } from './recorded.ts';

/** A server that stops, with an idle connection and one whose request is being answered, if there are connections. */
async function stopping(options: StopOptions, hasConnections = true) {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connections } = connectionsWith();
  const sockets: Socket[] = [];
  const begin = () => {
    const socket = new Socket();
    socket.destroySoon = () => void socket.emit('close');
    sockets.push(socket);
    connections.open(socket);
    const exchange = { connection: connections.of(socket)!, heldBytes: 0, end() {} };
    connections.begin(exchange as never);
    return exchange as never;
  };
  let busy: never | undefined;
  if (hasConnections) {
    connections.end(begin());
    busy = begin();
    await time.advance(60_000);
  }
  let closed: (() => void) | undefined;
  const close = vi.fn((done: () => void) => {
    closed = done;
  });
  let outcome: { cut: number } | undefined;
  void drain({ close } as never, connections, options).then((result) => {
    outcome = result;
  });
  await time.settle();
  return {
    ...time,
    connections,
    busy: busy as never,
    /** The numbers of connections, and of times that the server was told to accept no more. */
    state: () => [connections.size, close.mock.calls.length],
    async ended() {
      closed?.();
      await time.settle();
      return [outcome, time.pending()];
    },
  };
}

test('without connections, a server ends at once', async () => {
  const { state, ended } = await stopping({ timeoutMs: 1_000 }, false);
  expect(state()).toEqual([0, 1]);
  expect(await ended()).toEqual([{ cut: 0 }, 0]);
});

test('an idle connection has its grace period from the stop on; a busy one ends after its response, or is cut', async () => {
  const { state, advance, connections, busy, ended } = await stopping({ graceMs: 500, timeoutMs: 2_000 });
  await advance(499);
  expect(state()).toEqual([2, 0]);
  await advance(1);
  expect(state()).toEqual([1, 1]);
  await advance(500);
  connections.end(busy);
  await advance(499);
  expect(state()).toEqual([1, 1]);
  await advance(51);
  expect(state()).toEqual([0, 1]);
  expect(await ended()).toEqual([{ cut: 0 }, 0]);
});

test('whatever is left after the timeout is cut', async () => {
  const { state, advance, ended } = await stopping({ closeAfter: new Promise(() => {}), timeoutMs: 1_000 });
  await advance(999);
  expect(state()).toEqual([2, 0]);
  await advance(1);
  expect(state()).toEqual([0, 1]);
  expect(await ended()).toEqual([{ cut: 2 }, 0]);
});

test('connections are accepted until they need not be', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { state, advance, settle, ended } = await stopping({ closeAfter: promise, timeoutMs: 1_000 }, false);
  await advance(500);
  expect(state()).toEqual([0, 0]);
  resolve();
  await settle();
  expect(state()).toEqual([0, 1]);
  expect(await ended()).toEqual([{ cut: 0 }, 0]);
});
