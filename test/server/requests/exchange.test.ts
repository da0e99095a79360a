import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { HttpRequest } from '../../../src/server/requests/body.ts';
import { beginExchange, type Exchange, type HttpResponse } from '../../../src/server/requests/exchange.ts';
import { connectionsWith } from '../connections/recorded.ts';

/** A connection whose requests and responses are objects of the test. */
function newConnection(isHttp2 = false) {
  const { connections, events } = connectionsWith({ maxBodyBytes: 100, maxInFlightBytes: 100 });
  const socket = new Socket();
  connections.open(socket);
  const session = { socket, close: vi.fn() };
  if (isHttp2) {
    connections.upgrade(session as never);
  }
  /** A request of which not everything has arrived. */
  function begin() {
    const request = Object.assign(new EventEmitter(), { complete: false, headers: {}, socket, pause: vi.fn() });
    const stream = Object.assign(new EventEmitter(), { session, close: vi.fn() });
    const response = Object.assign(new EventEmitter(), {
      ...(isHttp2 && { stream }),
      writeHead: vi.fn(),
      write: vi.fn(),
      end: vi.fn(),
      writeContinue: vi.fn(),
    });
    const typed = [request as unknown as HttpRequest, response as unknown as HttpResponse] as const;
    const exchange = beginExchange(...typed, connections) as Exchange;
    return { request, stream, response, exchange };
  }
  return { connections, events, socket, session, begin };
}

const refusal = { code: 405, message: 'no' };
const text = '{"why":"no"}';
const head = ['content-type', 'application/json', 'content-length', '12', 'allow', 'POST'];

describe.each([false, true])('a refusal (HTTP/2: %s)', (isHttp2) => {
  test('of a whole request keeps its connection', async () => {
    const { begin, events } = newConnection(isHttp2);
    const { request, stream, response, exchange } = begin();
    request.complete = true;
    exchange.refuse(refusal, { code: 200, text });
    expect(response.writeHead.mock.calls).toEqual([[200, head]]);
    expect(response.end.mock.calls).toEqual([[text]]);
    expect(events.refused.mock.calls).toEqual([[405]]);
    stream.emit('finish');
    await nextTurn();
    expect(stream.close).not.toHaveBeenCalled();
  });

  test.each(['refused', 'answered', 'over'])('of one that was %s is nothing', (how) => {
    const { begin, connections } = newConnection(isHttp2);
    const { response, exchange } = begin();
    if (how === 'refused') {
      exchange.refuse(refusal);
    } else if (how === 'answered') {
      exchange.respond({ code: 200, text });
    } else {
      connections.end(exchange);
    }
    const before = response.writeHead.mock.calls.length;
    exchange.refuse(refusal);
    expect(response.writeHead).toHaveBeenCalledTimes(before);
  });
});

describe('a refusal before the whole request, over HTTP/1.1,', () => {
  function refused() {
    const { begin, ...rest } = newConnection();
    const { request, response, exchange } = begin();
    exchange.refuse(refusal, { code: 200, text });
    return { request, response, exchange, ...rest };
  }

  test('is sent at once, as the last one of its connection', () => {
    const { response } = refused();
    expect(response.writeHead.mock.calls).toEqual([[200, [...head, 'connection', 'close']]]);
    expect([response.write.mock.calls, response.end.mock.calls]).toEqual([[[text]], []]);
  });

  test.each(['end', 'error'])('ends with the request: %s', (event) => {
    const { request, response } = refused();
    request.emit(event);
    expect([response.end.mock.calls, request.pause.mock.calls]).toEqual([[[]], []]);
  });

  test('ends once more bytes follow than a body may have, which count for the connection', () => {
    const { request, response, exchange } = refused();
    request.emit('data', Buffer.alloc(60));
    request.emit('data', Buffer.alloc(40));
    expect(response.end).not.toHaveBeenCalled();
    request.emit('data', Buffer.alloc(1));
    expect([response.end.mock.calls, request.pause.mock.calls]).toEqual([[[]], []]);
    expect(exchange.connection.bodyBytes).toBe(101);
  });

  test('ends once too many small pieces follow, and nothing more is read', () => {
    const { request, response } = refused();
    for (let piece = 0; piece < 4096; piece++) {
      request.emit('data', Buffer.alloc(0));
    }
    expect([response.end.mock.calls, request.pause.mock.calls]).toEqual([[], []]);
    request.emit('data', Buffer.alloc(0));
    expect([response.end.mock.calls, request.pause.mock.calls]).toEqual([[[]], [[]]]);
  });
});

test('over HTTP/2, a client is told to stop sending once it has the whole refusal', async () => {
  const { stream, response, exchange } = newConnection(true).begin();
  exchange.refuse(refusal, { code: 200, text });
  expect(response.writeHead.mock.calls).toEqual([[200, head]]);
  expect([response.write.mock.calls, response.end.mock.calls]).toEqual([[], [[text]]]);
  await nextTurn();
  stream.emit('finish');
  expect(stream.close).not.toHaveBeenCalled();
  await nextTurn();
  expect(stream.close.mock.calls).toEqual([[0]]);
});

test('while the server drains, a response is the last of its connection', () => {
  const { begin, connections, session } = newConnection(true);
  begin().exchange.respond({ code: 200, text });
  expect(session.close).not.toHaveBeenCalled();
  connections.isDraining = true;
  begin().exchange.respond({ code: 200, text });
  expect(session.close).toHaveBeenCalledOnce();

  const { begin: beginOld, connections: old, socket } = newConnection();
  old.isDraining = true;
  const destroySoon = vi.spyOn(socket, 'destroySoon');
  const { request, response, exchange } = beginOld();
  request.complete = true;
  exchange.respond({ code: 200, text });
  expect(response.writeHead.mock.calls[0]?.[1].slice(-2)).toEqual(['connection', 'close']);
  // Node closes it, once the responses to earlier requests have been sent.
  expect(destroySoon).not.toHaveBeenCalled();
});

test('a request over HTTP/2 that is given up is marked, and its stream cancelled', () => {
  const { stream, exchange } = newConnection(true).begin();
  expect(exchange.isReset).toBe(false);
  exchange.reset();
  expect([exchange.isReset, stream.close.mock.calls]).toEqual([true, [[8]]]);
});

test('while a response is sent, the server is no longer to blame for what its client does not do', () => {
  const { request, exchange } = newConnection().begin();
  expect(exchange.isDeciding).toBe(false);
  request.complete = true;
  expect(exchange.isDeciding).toBe(true);
  exchange.respond({ code: 200, text });
  expect(exchange.isDeciding).toBe(false);
});

test('nothing is reserved for a request that is over', () => {
  const { begin, connections } = newConnection();
  const { exchange } = begin();
  expect([exchange.hold(10), connections.inFlightBytes]).toEqual([true, 10]);
  connections.end(exchange);
  expect([exchange.hold(10), connections.inFlightBytes]).toEqual([false, 0]);
});
