import { Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Connections } from '../../../src/server/connections/connections.ts';
import { defaultLimits, type Limits } from '../../../src/server/index.ts';
import { takeTime } from '../clock.ts';

/** The connections of a server without a server. */
function connectionsWith(limits: Partial<Limits>) {
  const time = takeTime();
  onTestFinished(time.restore);
  const events = { evicted: vi.fn(), dropped: vi.fn(), responseDropped() {}, refused() {} };
  const connections = new Connections({ ...defaultLimits, ...limits }, events);
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
  const { connections, events, time, open, begin } = connectionsWith({ maxConnections: 1 });
  const { socket } = begin(true);
  await time.advance(60_000);
  const newcomer = open();
  expect([socket.destroyed, newcomer.destroyed, connections.size]).toEqual([false, true, 1]);
  expect([events.dropped.mock.calls, events.evicted.mock.calls]).toEqual([[[]], []]);
});

test('one that has closed, or was closed for another, is not taken for that of a later handshake', () => {
  const { connections, open } = connectionsWith({});
  const tls = () => Object.assign(new Socket(), { destroy: vi.fn() });
  const socket = open();
  const [first, late] = [tls(), tls()];
  connections.secure(first as never);
  expect([first.destroy.mock.calls.length, connections.of(first)]).toEqual([0, connections.of(socket)]);
  socket.emit('close');
  connections.secure(late as never);
  expect([late.destroy.mock.calls.length, connections.of(late), connections.of(first)]).toEqual([
    1,
    undefined,
    undefined,
  ]);
});

test('a client that sends a large body steadily is not cut, however long it takes; once it stops it is', async () => {
  const limits = { maxInFlightBytes: 1_000_000, stallTimeoutMs: 250 };
  const { connections, events, time, begin } = connectionsWith(limits);
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
