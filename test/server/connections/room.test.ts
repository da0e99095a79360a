import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Limits } from '../../../src/server/index.ts';
import { takeTime } from '../clock.ts';
import { connectionsWith } from './recorded.ts';

/** The connections of a server, in a time of their own. */
function serverWith(limits: Partial<Limits>) {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connections, events } = connectionsWith(limits);
  function open() {
    const socket = Object.defineProperty(new Socket(), 'bytesRead', { value: 0, writable: true });
    connections.open(socket);
    return socket;
  }
  /** A connection with a request, which is being read, or decided on. */
  function begin(isDeciding = false) {
    const socket = open();
    const exchange = { connection: connections.of(socket)!, heldBytes: 0, isDeciding, end() {} };
    connections.begin(exchange as never);
    return { socket, exchange: exchange as never };
  }
  return { connections, events, time, open, begin };
}

test('a connection that no other may be closed for is closed on arrival', async () => {
  const { connections, events, time, open, begin } = serverWith({ maxConnections: 1 });
  const { socket } = begin(true);
  await time.advance(60_000);
  const newcomer = open();
  expect([socket.destroyed, newcomer.destroyed, connections.size]).toEqual([false, true, 1]);
  expect([events.dropped.mock.calls, events.evicted.mock.calls]).toEqual([[[]], []]);
});

test('to make room, one that has waited for its first request for a while is closed, then the one idle longest', async () => {
  const { connections, events, time, open, begin } = serverWith({ maxConnections: 3, stallTimeoutMs: 250 });
  const [first, second] = [begin(), begin()];
  connections.end(first.exchange);
  await time.advance(1);
  connections.end(second.exchange);
  const fresh = open();
  await time.advance(249);
  const isOpen = (...sockets: Socket[]) => sockets.map(({ destroyed }) => !destroyed);
  const third = open();
  expect(isOpen(first.socket, second.socket, fresh, third)).toEqual([false, true, true, true]);
  await time.advance(1);
  const fourth = open();
  expect(isOpen(second.socket, fresh, third, fourth)).toEqual([true, false, true, true]);
  expect(events.evicted).toHaveBeenCalledTimes(2);
});

test.each([
  ['one is enough', 500_000, [false, true, true]],
  ['both are needed', 900_000, [false, false, true]],
])('to make room for a body, stalled connections that hold bytes are closed: %s', async (_, bytes, expected) => {
  const { connections, time, begin } = serverWith({ maxInFlightBytes: 1_000_000, stallTimeoutMs: 250 });
  const [own, empty, first] = [begin(), begin(), begin()];
  connections.begin({ ...(first.exchange as object) } as never);
  const second = begin();
  expect(connections.holdBody(own.exchange, 50_000)).toBe(true);
  for (const { exchange } of [first, second]) {
    expect(connections.holdBody(exchange, 400_000)).toBe(true);
  }
  for (const connection of connections.busy) {
    connection.markProgress();
  }
  await time.advance(250);
  expect(connections.holdBody(own.exchange, bytes)).toBe(true);
  expect([first, second, empty].map(({ socket }) => !socket.destroyed)).toEqual(expected);
  expect(own.socket.destroyed).toBe(false);
  expect(connections.inFlightBytes).toBe(50_000 + bytes + (expected[1] ? 400_000 : 0));
});

test('one that has closed, or was closed for another, is not taken for that of a later handshake', () => {
  const { connections, open } = serverWith({});
  const tls = () => Object.assign(new Socket(), { destroy: vi.fn() });
  const socket = open();
  const [first, late] = [tls(), tls()];
  connections.secure(first as never);
  expect([first.destroy.mock.calls.length, connections.of(first)]).toEqual([0, connections.of(socket)]);
  socket.emit('close');
  const session = { socket: late };
  connections.upgrade(session as never);
  expect(connections.of(session)).toBeUndefined();
  connections.secure(late as never);
  expect([late.destroy.mock.calls.length, connections.of(late), connections.of(first)]).toEqual([
    1,
    undefined,
    undefined,
  ]);
});

test('a connection over HTTP/2 that is closed has a second after its last response to end by itself', async () => {
  const { connections, time, begin } = serverWith({});
  const { socket, exchange } = begin();
  const session = { socket, close: vi.fn() };
  connections.upgrade(session as never);
  const connection = connections.of(session)!;
  expect(connection.requestCount).toBe(1);
  const isCut = async (ms: number) => {
    await time.advance(ms);
    connections.close(connection);
    return socket.destroyed;
  };
  expect([await isCut(0), await isCut(5_000)]).toEqual([false, false]);
  connections.end(exchange);
  expect([await isCut(999), await isCut(1)]).toEqual([false, true]);
  expect(session.close).toHaveBeenCalledOnce();

  const other = begin();
  connections.end(other.exchange);
  const idle = connections.of(other.socket)!;
  await time.advance(5_000);
  connections.upgrade({ ...session, socket: other.socket } as never);
  connections.close(idle);
  await time.advance(999);
  connections.close(idle);
  expect(other.socket.destroyed).toBe(false);
  await time.advance(1);
  connections.close(idle);
  expect(other.socket.destroyed).toBe(true);
});

test('a client that sends a large body steadily is not cut, however long it takes; once it stops it is', async () => {
  const limits = { maxInFlightBytes: 1_000_000, stallTimeoutMs: 250 };
  const { connections, events, time, begin } = serverWith(limits);
  const [sender, other] = [begin(), begin()];
  expect(connections.holdBody(sender.exchange, 1_000_000)).toBe(true);
  for (let part = 0; part < 10; part++) {
    await time.advance(100);
    Object.assign(sender.socket, { bytesRead: sender.socket.bytesRead + 100_000 });
    expect(connections.holdBody(other.exchange, 200_000)).toBe(false);
  }
  await time.advance(249);
  expect(connections.holdBody(other.exchange, 200_000)).toBe(false);
  await time.advance(1);
  expect(connections.holdBody(other.exchange, 200_000)).toBe(true);
  expect([sender.socket.destroyed, events.evicted.mock.calls]).toEqual([true, [[]]]);
});
