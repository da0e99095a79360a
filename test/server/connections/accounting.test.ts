import { EventEmitter } from 'node:events';
import { constants } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ConnectionLimits } from '../../../src/server/connections/connection-limits.ts';
import { type Connections, trackConnections } from '../../../src/server/connections/connections.ts';
import type { Http1Response } from '../../../src/server/connections/tracked.ts';
import { Http2Response } from '../../../src/server/http2-response.ts';
import { takeTime } from '../clock.ts';

// Connections without a network, by a clock that the test advances: shows to the millisecond and the byte what
// connections.test.ts shows with real ones.

let time: ReturnType<typeof takeTime>;
beforeEach(() => {
  time = takeTime();
});
afterEach(() => time.restore());

/** A TCP socket, or the TLS socket on it. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort: number;
  bytesRead = 0;
  bytesWritten = 0;
  ended: 'no' | 'destroyed' | 'destroyed soon' = 'no';
  constructor(port: number) {
    super();
    this.remotePort = port;
  }
  destroy(): void {
    this.ended = 'destroyed';
  }
  destroySoon(): void {
    this.ended = 'destroyed soon';
  }
}

class FakeServer extends EventEmitter {
  closes = 0;
  #onClosed: (() => void) | undefined;
  close(onClosed: () => void): void {
    this.closes++;
    this.#onClosed = onClosed;
  }
  /** All of its connections have ended. */
  closed(): void {
    this.#onClosed?.();
  }
}

const limits: ConnectionLimits = {
  maxConnections: 3,
  keepAliveTimeoutMs: 60_000,
  headersTimeoutMs: 4_000,
  requestTimeoutMs: 10_000,
  stallTimeoutMs: 500,
  responseTimeoutMs: 5_000,
  maxInFlightBytes: 1_000_000,
  timeoutCheckMs: 100,
};

/** A server with tracked connections, and the actions of a test on it. */
function tracked(more: Partial<ConnectionLimits> = {}) {
  const server = new FakeServer();
  const events: string[] = [];
  const connections: Connections = trackConnections(
    server as never,
    { ...limits, ...more },
    {
      evicted: () => void events.push('evicted'),
      dropped: () => void events.push('dropped'),
      responseDropped: () => void events.push('response dropped'),
      requestLate: (_request, response) => {
        events.push('request late');
        connections.holdResponse(response, 0);
      },
    },
  );
  let port = 1;
  function arrive() {
    const transport = new FakeSocket(port++);
    server.emit('connection', transport);
    return transport;
  }
  function shake(transport: FakeSocket) {
    const secure = new FakeSocket(transport.remotePort);
    server.emit('secureConnection', secure);
    return secure;
  }
  function request(socket: FakeSocket) {
    const response = Object.assign(new EventEmitter(), {
      carrier: undefined,
      heldBytes: 0,
      isDeciding: false,
      isHttp2: false,
    }) as unknown as Http1Response;
    server.emit('request', { socket }, response);
    return response;
  }
  /** A connection on which a request was answered. */
  function used() {
    const transport = arrive();
    request(transport).emit('close');
    return transport;
  }
  function arriveHttp2() {
    const transport = arrive();
    const secure = shake(transport);
    const session = { closes: 0, close: () => void session.closes++ };
    connections.carry(secure as never, session as never);
    /** A request arrives; `complete` tells whether all of it has arrived. */
    function stream() {
      const closed: number[] = [];
      const req = { complete: false };
      const response = Object.create(Http2Response.prototype, {
        stream: { value: { close: (code: number) => closed.push(code) } },
        req: { value: req },
        closed: { value: closed },
      }) as Http2Response & { closed: number[]; req: typeof req };
      const fields = { carrier: undefined, heldBytes: 0, isDeciding: false, isHttp2: true };
      Object.assign(response, fields, { since: performance.now(), respondingSince: undefined, isGivenUp: false });
      connections.begin({ stream: { session } } as never, response);
      return response;
    }
    return { transport, secure, session, stream };
  }
  const counts = () => [connections.count(), connections.inFlight(), connections.inFlightBytes()];
  return { server, events, connections, arrive, shake, request, used, arriveHttp2, counts };
}

describe('the accounting', () => {
  test('counts connections until they close, requests until they are answered, and their bytes twice while they are sent', () => {
    const { arrive, request, counts, connections } = tracked();
    const [one, other] = [arrive(), arrive()];
    expect(counts()).toEqual([2, 0, 0]);
    const response = request(one);
    expect(counts()).toEqual([2, 1, 0]);
    expect(connections.holdBody(response, 100)).toBe(true);
    expect(connections.holdBody(response, 20)).toBe(true);
    expect(counts()).toEqual([2, 1, 120]);
    connections.holdResponse(response, 50);
    expect(counts()).toEqual([2, 1, 100]);
    response.emit('close');
    response.emit('close');
    expect(counts()).toEqual([2, 0, 0]);
    other.emit('close');
    expect(counts()).toEqual([1, 0, 0]);
  });

  test('removes a closed connection with its requests and bytes, once', () => {
    const { arrive, request, counts, connections } = tracked();
    const transport = arrive();
    const responses = [request(transport), request(transport)];
    for (const response of responses) {
      connections.holdBody(response, 10);
    }
    expect(counts()).toEqual([1, 2, 20]);
    transport.emit('close');
    expect(counts()).toEqual([0, 0, 0]);
    for (const response of responses) {
      connections.holdBody(response, 10);
      response.emit('close');
    }
    transport.emit('close');
    expect(counts()).toEqual([0, 0, 0]);
  });

  test('counts each pipelined request', () => {
    const { arrive, request, counts, connections } = tracked();
    const transport = arrive();
    const [first, second] = [request(transport), request(transport)];
    connections.holdBody(first, 10);
    connections.holdBody(second, 5);
    first.emit('close');
    expect(counts()).toEqual([1, 1, 5]);
    second.emit('close');
    expect(counts()).toEqual([1, 0, 0]);
  });

  test('counts requests on the TLS socket too, and after its end on neither', () => {
    const { arrive, shake, request, counts } = tracked();
    const transport = arrive();
    const secure = shake(transport);
    const response = request(secure);
    expect(counts()).toEqual([1, 1, 0]);
    expect(response.carrier).toMatchObject({ transport, secure });
    transport.emit('close');
    for (const socket of [transport, secure]) {
      const late = request(socket);
      expect(late.carrier).toBeUndefined();
      late.emit('close');
    }
    expect(counts()).toEqual([0, 0, 0]);
  });

  test('closes a TLS socket whose transport is closed, and does not confuse it with one that reuses the port', () => {
    const { server, arrive, shake } = tracked();
    const transport = arrive();
    transport.emit('close');
    expect(shake(transport).ended).toBe('destroyed');
    const again = new FakeSocket(transport.remotePort);
    const newer = new FakeSocket(transport.remotePort);
    server.emit('connection', again);
    server.emit('connection', newer);
    again.emit('close');
    expect(shake(newer).ended).toBe('no');
  });

  test('assigns a TLS socket to the transport of its own port', () => {
    const { arrive, shake, request, counts } = tracked();
    const [one, other] = [arrive(), arrive()];
    const secure = shake(one);
    expect([request(secure).carrier?.transport, shake(other).ended]).toEqual([one, 'no']);
    one.emit('close');
    expect(counts()).toEqual([1, 0, 0]);
  });

  test('removes the bytes of a response from its connection when it has been sent', () => {
    const { arriveHttp2, connections, counts } = tracked();
    const { transport, stream } = arriveHttp2();
    const [one, other] = [stream(), stream()];
    connections.holdBody(one, 10);
    connections.holdBody(other, 5);
    one.emit('close');
    expect([counts(), other.carrier?.bytes]).toEqual([[1, 1, 5], 5]);
    transport.emit('close');
    expect(counts()).toEqual([0, 0, 0]);
  });

  test('does not keep the process alive', () => {
    tracked();
    expect([time.pending(), time.referenced()]).toEqual([1, 0]);
  });

  test('ignores responses without a connection', () => {
    const { request, connections, counts } = tracked();
    const response = request(new FakeSocket(99));
    expect(connections.holdBody(response, 10)).toBe(true);
    connections.holdDecision(response);
    connections.holdResponse(response, 10);
    connections.leave(response);
    response.emit('close');
    expect([counts(), response.isDeciding]).toEqual([[0, 0, 0], false]);
  });
});

describe('when there is no room for another connection', () => {
  test('one that never sent a request is closed, after its time', async () => {
    const { arrive, used, events, counts } = tracked();
    const newcomer = arrive();
    const idle = used();
    arrive();
    await time.advance(499);
    arrive();
    // Until then the idle one has to be closed.
    expect([idle.ended, newcomer.ended]).toEqual(['destroyed', 'no']);
    await time.advance(1);
    const another = arrive();
    expect([newcomer.ended, another.ended, events]).toEqual(['destroyed', 'no', ['evicted', 'evicted']]);
    expect(counts()).toEqual([3, 0, 0]);
  });

  test('the longest idle one is closed', async () => {
    const { used, arrive, request, events } = tracked();
    const sockets = [used(), used(), used()];
    await time.advance(1);
    request(sockets[0]!).emit('close');
    arrive();
    expect(sockets.map(({ ended }) => ended)).toEqual(['no', 'destroyed', 'no']);
    expect(events).toEqual(['evicted']);
  });

  test('active requests are not cut: the new connection is dropped', () => {
    const { arrive, request, events, counts } = tracked();
    for (const transport of [arrive(), arrive(), arrive()]) {
      request(transport);
    }
    const late = arrive();
    expect([late.ended, events, counts()]).toEqual(['destroyed', ['dropped'], [3, 3, 0]]);
    expect(late.listenerCount('close')).toBe(0);
  });

  test.each([
    [500, 500 * 32 - 1, true],
    [500, 500 * 32, false],
    [499, 0, false],
    [1_000, 1_000 * 32 - 1, true],
    [1_000, 1_000 * 32, false],
  ])('a request without progress for %i ms (%i bytes) is closed: %s', async (ms, bytes, isCut) => {
    const { arrive, request, events } = tracked({ maxConnections: 1, timeoutCheckMs: 100_000 });
    const slow = arrive();
    slow.bytesRead = 7;
    request(slow);
    // It is examined for the first time, from which its time counts.
    expect(arrive().ended).toBe('destroyed');
    await time.advance(ms);
    slow.bytesRead += Math.floor(bytes / 2);
    slow.bytesWritten += Math.ceil(bytes / 2);
    arrive();
    expect([slow.ended, events.at(-1)]).toEqual(isCut ? ['destroyed', 'evicted'] : ['no', 'dropped']);
  });

  test('progress is measured from the last look, and from the periodic check on', async () => {
    const { arrive, request } = tracked({ maxConnections: 1, timeoutCheckMs: 400 });
    const slow = arrive();
    request(slow);
    await time.advance(400);
    slow.bytesRead = 600 * 32;
    await time.advance(600);
    expect(arrive().ended).toBe('destroyed');
    expect(slow.ended).toBe('no');
    // What it sent before does not count now.
    await time.advance(500);
    arrive();
    expect(slow.ended).toBe('destroyed');
  });

  test('a request that is being decided is not slow, but one whose decision has been made may be', async () => {
    const { arrive, request, connections } = tracked({ maxConnections: 1 });
    const transport = arrive();
    const response = request(transport);
    connections.holdDecision(response);
    connections.holdDecision(response);
    await time.advance(2_000);
    expect(arrive().ended).toBe('destroyed');
    connections.holdResponse(response, 1);
    connections.holdResponse(response, 1);
    expect(response.carrier?.deciding).toBe(0);
    await time.advance(500);
    arrive();
    expect(transport.ended).toBe('destroyed');
  });

  test('each of several decisions counts until it is made or its client has disconnected', async () => {
    const { arriveHttp2, arrive, connections } = tracked({ maxConnections: 1 });
    const { transport, stream } = arriveHttp2();
    const [one, other, third] = [stream(), stream(), stream()];
    connections.holdDecision(one);
    connections.holdDecision(other);
    one.emit('close');
    expect(third.carrier?.deciding).toBe(1);
    // A connection without a decision does not remove any.
    third.emit('close');
    expect(other.carrier?.deciding).toBe(1);
    await time.advance(1_000);
    expect(arrive().ended).toBe('destroyed');
    other.emit('close');
    expect(other.carrier?.deciding).toBe(0);
    await time.advance(1_000);
    arrive();
    expect(transport.ended).toBe('destroyed');
  });
});

describe('when there is no room for a body', () => {
  /** A connection whose request holds some bytes and has stalled. */
  function stalled({ arrive, request, connections }: ReturnType<typeof tracked>, bytes: number) {
    const transport = arrive();
    const response = request(transport);
    connections.holdBody(response, bytes);
    return { transport, response };
  }

  test('it is rejected while the others make progress, and keeps what it already holds', () => {
    const server = tracked();
    stalled(server, 900_000);
    const { response } = stalled(server, 100_000);
    expect(server.connections.holdBody(response, 1)).toBe(false);
    expect([server.counts(), response.heldBytes]).toEqual([[2, 2, 1_000_000], 100_000]);
    expect(server.events).toEqual([]);
  });

  test('stalled ones are closed, but no more than needed, and never the connection itself', async () => {
    const server = tracked();
    const [first, second] = [stalled(server, 600_000), stalled(server, 400_000)];
    const third = stalled(server, 0);
    await time.advance(100);
    await time.advance(500);
    expect(server.connections.holdBody(third.response, 500_000)).toBe(true);
    expect([first.transport.ended, second.transport.ended, third.transport.ended]).toEqual(['destroyed', 'no', 'no']);
    expect([server.events, server.counts()]).toEqual([['evicted'], [2, 2, 900_000]]);
    expect(server.connections.holdBody(third.response, 5_000_000)).toBe(true);
    expect([second.transport.ended, third.transport.ended]).toEqual(['destroyed', 'no']);
    expect([server.events, server.counts()]).toEqual([
      ['evicted', 'evicted'],
      [1, 1, 5_500_000],
    ]);
  });

  test('a stalled connection is not cut for its own body', async () => {
    const server = tracked();
    const own = stalled(server, 500_000);
    const other = stalled(server, 500_000);
    await time.advance(700);
    expect(server.connections.holdBody(own.response, 400_000)).toBe(true);
    expect([own.transport.ended, other.transport.ended]).toEqual(['no', 'destroyed']);
  });

  test('connections that hold no bytes stay open', async () => {
    const server = tracked();
    const empty = stalled(server, 0);
    const full = stalled(server, 1_000_000);
    const { response } = stalled(server, 0);
    await time.advance(700);
    expect(server.connections.holdBody(response, 100_000)).toBe(true);
    expect([empty.transport.ended, full.transport.ended]).toEqual(['no', 'destroyed']);
  });

  test('if there is room, no connection is examined', async () => {
    const server = tracked();
    const { transport } = stalled(server, 100);
    const { response } = stalled(server, 0);
    await time.advance(700);
    expect(server.connections.holdBody(response, 100)).toBe(true);
    expect([transport.ended, server.events]).toEqual(['no', []]);
  });
});

describe('timeouts of an HTTP/1.1 connection', () => {
  test('when idle: the keep-alive timeout, from the last response on', async () => {
    const { used, request, arrive, shake } = tracked();
    const transport = used();
    const tls = arrive();
    const secure = shake(tls);
    request(secure).emit('close');
    await time.advance(30_000);
    request(transport).emit('close');
    await time.advance(29_900);
    expect([transport.ended, tls.ended, secure.ended]).toEqual(['no', 'no', 'no']);
    await time.advance(100);
    expect([transport.ended, tls.ended, secure.ended]).toEqual(['no', 'no', 'destroyed soon']);
    await time.advance(29_900);
    expect(transport.ended).toBe('no');
    await time.advance(100);
    expect(transport.ended).toBe('destroyed soon');
  });

  test("before the first request: Node's", async () => {
    const { arrive } = tracked();
    const transport = arrive();
    await time.advance(120_000);
    expect(transport.ended).toBe('no');
  });

  test('a request has its own timeout, and so has the response from its beginning on', async () => {
    const { arrive, request, connections, events } = tracked();
    const [silent, answered] = [arrive(), arrive()];
    request(silent);
    const response = request(answered);
    await time.advance(9_900);
    connections.holdResponse(response, 10);
    await time.advance(4_900);
    expect([silent.ended, answered.ended, events]).toEqual(['no', 'no', []]);
    await time.advance(100);
    expect([silent.ended, answered.ended, events]).toEqual(['no', 'destroyed', ['response dropped']]);
    await time.advance(100);
    expect([silent.ended, events]).toEqual(['destroyed', ['response dropped', 'response dropped']]);
  });

  test('the next request starts again', async () => {
    const { arrive, request, connections } = tracked();
    const transport = arrive();
    const response = request(transport);
    connections.holdResponse(response, 10);
    response.emit('close');
    request(transport);
    await time.advance(14_900);
    expect(transport.ended).toBe('no');
    await time.advance(100);
    expect(transport.ended).toBe('destroyed');
  });
});

test("a pipelined request's time begins with the previous response", async () => {
  const { arrive, request } = tracked();
  const transport = arrive();
  const [first] = [request(transport), request(transport)];
  await time.advance(9_000);
  first.emit('close');
  await time.advance(14_900);
  expect(transport.ended).toBe('no');
  await time.advance(100);
  expect(transport.ended).toBe('destroyed');
});

describe('timeouts of an HTTP/2 connection', () => {
  test('without a request it gets GOAWAY after the header timeout, and is cut a second later', async () => {
    const { arriveHttp2, events, counts } = tracked();
    const { session, transport } = arriveHttp2();
    await time.advance(3_900);
    expect(session.closes).toBe(0);
    await time.advance(100);
    expect([session.closes, transport.ended]).toEqual([1, 'no']);
    await time.advance(900);
    expect(transport.ended).toBe('no');
    await time.advance(100);
    expect([session.closes, transport.ended, events, counts()]).toEqual([1, 'destroyed', [], [0, 0, 0]]);
  });

  test('when idle it gets GOAWAY after the keep-alive timeout, and is cut a second later', async () => {
    const { arriveHttp2, arrive } = tracked();
    const { session, transport, stream } = arriveHttp2();
    stream().emit('close');
    const other = arrive();
    await time.advance(59_900);
    expect(session.closes).toBe(0);
    await time.advance(100);
    expect([session.closes, transport.ended]).toEqual([1, 'no']);
    await time.advance(1_000);
    expect([session.closes, transport.ended, other.ended]).toEqual([1, 'destroyed', 'no']);
  });

  test('after GOAWAY it has a second from its last response on, and is not cut while there are requests', async () => {
    const { arriveHttp2, connections } = tracked();
    const { session, transport, stream } = arriveHttp2();
    const response = stream();
    connections.leave(response);
    connections.leave(response);
    expect([session.closes, transport.ended]).toEqual([1, 'no']);
    await time.advance(3_000);
    connections.leave(response);
    expect(transport.ended).toBe('no');
    response.emit('close');
    await time.advance(900);
    expect(transport.ended).toBe('no');
    await time.advance(100);
    expect([session.closes, transport.ended]).toEqual([1, 'destroyed']);
  });

  test('an HTTP/1.1 connection gets no GOAWAY', () => {
    const { arrive, request, connections } = tracked();
    const transport = arrive();
    connections.leave(request(transport));
    expect(transport.ended).toBe('no');
  });

  test('each request has its own timeouts', async () => {
    const { arriveHttp2, connections, events, counts } = tracked();
    const { transport, stream } = arriveHttp2();
    const late = stream();
    await time.advance(5_000);
    const [whole, other] = [stream(), stream()];
    whole.req.complete = true;
    await time.advance(4_900);
    expect(events).toEqual([]);
    await time.advance(100);
    // From now on its refusal counts as a response.
    expect([events, late.closed]).toEqual([['request late'], []]);
    other.req.complete = true;
    connections.holdResponse(other, 1);
    await time.advance(4_900);
    expect([events.length, late.closed, other.closed]).toEqual([1, [], []]);
    await time.advance(100);
    expect([events, late.closed, other.closed, whole.closed]).toEqual([
      ['request late', 'response dropped', 'response dropped'],
      [constants.NGHTTP2_CANCEL],
      [constants.NGHTTP2_CANCEL],
      [],
    ]);
    late.emit('close');
    other.emit('close');
    await time.advance(4_900);
    expect([whole.closed, transport.ended]).toEqual([[], 'no']);
    await time.advance(100);
    expect([whole.closed, transport.ended, counts()]).toEqual([[constants.NGHTTP2_CANCEL], 'no', [1, 1, 0]]);
  });

  test('if not even the reset of a request can be sent, the connection is cut', async () => {
    const { arriveHttp2, connections, events, counts } = tracked();
    const { transport, stream } = arriveHttp2();
    const response = stream();
    connections.holdResponse(response, 1);
    await time.advance(5_000);
    expect([response.closed, transport.ended]).toEqual([[constants.NGHTTP2_CANCEL], 'no']);
    await time.advance(100);
    expect([transport.ended, events, counts()]).toEqual(['destroyed', ['response dropped'], [0, 0, 0]]);
  });

  test('an abandoned request is not reported as late as well', async () => {
    const { arriveHttp2, events } = tracked({ responseTimeoutMs: 0 });
    const { stream } = arriveHttp2();
    const response = stream();
    response.req.complete = true;
    await time.advance(10_000);
    expect(events).toEqual(['response dropped']);
    response.req.complete = false;
    await time.advance(100);
    expect(events).toEqual(['response dropped']);
  });

  test('the session of a closed connection is not carried', () => {
    const { arriveHttp2, connections, counts } = tracked();
    const { transport, secure } = arriveHttp2();
    transport.emit('close');
    const session = {};
    connections.carry(secure as never, session as never);
    for (const unknown of [session, undefined]) {
      const response = Object.assign(new EventEmitter(), { carrier: undefined }) as unknown as Http2Response;
      connections.begin({ stream: { session: unknown } } as never, response);
      expect(response.carrier).toBeUndefined();
    }
    expect(counts()).toEqual([0, 0, 0]);
  });
});

describe('draining', () => {
  /** Begins to drain, and records the result. */
  function draining(connections: Connections, options: Partial<Parameters<Connections['drain']>[0]> = {}) {
    const result: { cut?: number } = {};
    connections.drain({ graceMs: 200, timeoutMs: 5_000, ...options }).then(({ cut }) => {
      result.cut = cut;
    });
    return result;
  }

  test('without connections ends at once, and leaves no timer', async () => {
    const { server, connections } = tracked();
    const result = draining(connections);
    expect(server.closes).toBe(0);
    await time.settle();
    expect([server.closes, result.cut]).toEqual([1, undefined]);
    server.closed();
    await time.settle();
    expect([result.cut, time.pending()]).toEqual([0, 0]);
  });

  test('accepts new connections and keeps idle ones open for a grace period', async () => {
    const { server, connections, used, arrive, request } = tracked();
    const [idle, fresh, busy] = [used(), arrive(), arrive()];
    request(busy);
    const result = draining(connections);
    await time.advance(199);
    expect([server.closes, idle.ended, fresh.ended]).toEqual([0, 'no', 'no']);
    await time.advance(1);
    expect([server.closes, idle.ended, fresh.ended, busy.ended]).toEqual([1, 'destroyed soon', 'destroyed soon', 'no']);
    await time.advance(1_000);
    expect([server.closes, result.cut]).toEqual([1, undefined]);
  });

  test.each<[string, (server: ReturnType<typeof tracked>) => void]>([
    ['one new and one idle', ({ arrive, used }) => void [arrive(), used()]],
    ['one idle and one busy', ({ arrive, used, request }) => void [used(), request(arrive())]],
    ['one new and one busy', ({ arrive, request }) => void [arrive(), request(arrive())]],
  ])('%s connection count', async (_, open) => {
    const server = tracked();
    open(server);
    draining(server.connections);
    await time.advance(199);
    expect(server.server.closes).toBe(0);
  });

  test('gives a connection that becomes idle its grace period from then on', async () => {
    const { connections, arrive, request } = tracked();
    const transport = arrive();
    const response = request(transport);
    draining(connections);
    await time.advance(300);
    response.emit('close');
    await time.advance(150);
    expect(transport.ended).toBe('no');
    await time.advance(50);
    expect(transport.ended).toBe('destroyed soon');
  });

  test('ends before the grace period is over if no connection is left', async () => {
    const { server, connections, arrive } = tracked();
    const transport = arrive();
    draining(connections);
    await time.advance(50);
    expect(server.closes).toBe(0);
    transport.emit('close');
    await time.advance(50);
    expect(server.closes).toBe(1);
  });

  test('waits for closeAfter', async () => {
    const { server, connections, used } = tracked();
    const idle = used();
    const { promise, resolve } = Promise.withResolvers<void>();
    draining(connections, { closeAfter: promise });
    await time.advance(1_000);
    expect([server.closes, idle.ended]).toEqual([0, 'no']);
    resolve();
    await time.settle();
    expect([server.closes, idle.ended]).toEqual([1, 'destroyed soon']);
  });

  test('cuts the remaining connections at the timeout, and returns how many', async () => {
    const { server, connections, used, arrive, request, counts } = tracked();
    const [idle, fresh, busy] = [used(), arrive(), arrive()];
    request(busy);
    const result = draining(connections, { closeAfter: new Promise(() => {}), timeoutMs: 1_000 });
    await time.advance(999);
    expect([server.closes, idle.ended]).toEqual([0, 'no']);
    await time.advance(1);
    expect([idle.ended, fresh.ended, busy.ended, counts()]).toEqual(['destroyed', 'destroyed', 'destroyed', [0, 0, 0]]);
    await time.advance(500);
    expect(server.closes).toBe(1);
    server.closed();
    await time.settle();
    expect([result.cut, time.pending()]).toEqual([3, 0]);
  });

  test('does not close the server a second time at the timeout', async () => {
    const { server, connections, arrive, request } = tracked();
    request(arrive());
    const result = draining(connections, { timeoutMs: 1_000 });
    await time.advance(1_000);
    server.closed();
    await time.settle();
    expect([server.closes, result.cut]).toEqual([1, 1]);
  });

  test('may have a timeout of zero', async () => {
    const { server, connections, arrive } = tracked();
    const transport = arrive();
    draining(connections, { graceMs: 0, timeoutMs: 0 });
    await time.settle();
    expect([server.closes, transport.ended]).toEqual([1, 'destroyed soon']);
  });
});
