import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { TrackedRequest, TrackedResponse } from '../../../src/server/connections/tracked.ts';
import { createRespond, receiveBody } from '../../../src/server/requests/receive.ts';

/** A response that records what is done to it. */
class FakeResponse extends EventEmitter {
  readonly isHttp2 = false;
  readonly done: unknown[] = [];
  writeHead(code: number, headers: string[]): void {
    this.done.push([
      'head',
      code,
      Object.fromEntries(
        Array.from({ length: headers.length / 2 }, (_, index) => headers.slice(2 * index, 2 * index + 2)),
      ),
    ]);
  }
  write(text: string): void {
    this.done.push(['write', text]);
  }
  end(text?: string): void {
    this.done.push(['end', ...(text === undefined ? [] : [text])]);
  }
  writeContinue(): void {
    this.done.push(['continue']);
  }
}

function world({ isDraining = false, room = Number.POSITIVE_INFINITY } = {}) {
  const response = new FakeResponse();
  const { done } = response;
  return {
    done,
    response: response as unknown as TrackedResponse,
    foundation: {
      maxBodyBytes: 100,
      isDraining: () => isDraining,
      metrics: { refused: (code: number) => done.push(['counted', code]) } as never,
      connections: {
        holdBody: (_: TrackedResponse, bytes: number) => {
          done.push(['hold', bytes]);
          return bytes <= room;
        },
        holdDecision: () => {},
        holdResponse: (_: TrackedResponse, bytes: number) => void done.push(['hold response', bytes]),
        leave: () => void done.push(['leave']),
      },
    },
  };
}

const type = { 'content-type': 'application/json' };
function requestOf(method: string, headers: Record<string, string>, complete = true) {
  return Object.assign(new EventEmitter(), { method, headers, complete }) as unknown as TrackedRequest & EventEmitter;
}

describe('a response', () => {
  const head = { ...type, 'content-length': '4' };

  test('is counted in bytes, not in characters', () => {
    const { done, response, foundation } = world();
    createRespond(foundation)(response, 200, '"ä"');
    expect(done).toEqual([
      ['hold response', 4],
      ['head', 200, head],
      ['end', '"ä"'],
    ]);
  });

  test('closes its connection while the server drains', () => {
    const { done, response, foundation } = world({ isDraining: true });
    createRespond(foundation)(response, 200, '"ä"');
    expect(done).toEqual([
      ['hold response', 4],
      ['head', 200, { ...head, connection: 'close' }],
      ['end', '"ä"'],
      ['leave'],
    ]);
  });

  test('that there is no room says when to come again', () => {
    const { done, response, foundation } = world();
    createRespond(foundation)(response, 503, '"ä"');
    expect(done[1]).toEqual(['head', 503, { ...head, 'retry-after': '1' }]);
  });
});

describe('a request', () => {
  type Wording = Parameters<typeof receiveBody>[5];
  function received(
    of: ReturnType<typeof world>,
    request: TrackedRequest & EventEmitter,
    wanted: Parameters<typeof receiveBody>[1] = 'posted JSON',
    wording?: Wording,
  ) {
    const bodies: string[] = [];
    receiveBody(of.foundation, wanted, request, of.response, (body) => bodies.push(String(body)), wording);
    return bodies;
  }

  test('is passed on with its body', () => {
    const of = world();
    const request = requestOf('POST', { ...type, 'content-length': '3' });
    const bodies = received(of, request);
    request.emit('data', Buffer.from('abc'));
    expect(bodies).toEqual([]);
    request.emit('end');
    expect([bodies, of.done]).toEqual([['abc'], [['hold', 3]]]);
  });

  test('that expects 100 Continue gets it, if its body is accepted', () => {
    const wanted = world();
    received(wanted, requestOf('POST', { ...type, 'content-length': '3', expect: '100-continue' }));
    expect(wanted.done).toEqual([['continue'], ['hold', 3]]);
    const unwanted = world();
    received(unwanted, requestOf('POST', { ...type, 'content-length': '101', expect: '100-continue' }));
    expect(unwanted.done).not.toContainEqual(['continue']);
  });

  const refused = (code: number, reason: string, message: string) =>
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code });

  test.each<[string, string, Record<string, string>, number, string, string, Record<string, string>]>([
    [
      'with another method',
      'PUT',
      type,
      405,
      'MethodNotAllowed',
      'PUT is not supported here: use POST',
      { allow: 'POST' },
    ],
    ['of another type', 'POST', {}, 415, 'UnsupportedMediaType', 'the content type must be application/json', {}],
    [
      'too large',
      'POST',
      { ...type, 'content-length': '101' },
      413,
      'RequestEntityTooLarge',
      'the body must not be larger than 100 bytes',
      {},
    ],
  ])('%s is rejected and counted, and holds no bytes', (_, method, headers, code, reason, message, more) => {
    const of = world();
    const bodies = received(of, requestOf(method, headers));
    const [counted, held, head, end] = of.done as unknown[][];
    expect([counted, held, bodies]).toEqual([['counted', code], ['hold response', 0], []]);
    expect(head?.[1]).toBe(code);
    expect(head?.[2]).toMatchObject({ ...type, ...more, connection: 'close' });
    expect(Object.keys(head?.[2] as object)).toHaveLength(3 + Object.keys(more).length);
    expect(JSON.parse(String(end?.[1]))).toMatchObject(JSON.parse(refused(code, reason, message)));
  });

  test('for which there is no room is rejected with Retry-After', () => {
    const of = world({ room: 2 });
    received(of, requestOf('POST', { ...type, 'content-length': '3' }));
    const [held, counted, response, head] = of.done as unknown[][];
    expect([held, counted, response]).toEqual([
      ['hold', 3],
      ['counted', 503],
      ['hold response', 0],
    ]);
    expect(head).toMatchObject(['head', 503, { 'retry-after': '1' }]);
  });

  test("is rejected in the application's words, if it has any", () => {
    const codes: number[] = [];
    const inWords: Wording = ({ code }) => {
      codes.push(code);
      return code === 413 ? { code: 200, text: '"too large"' } : undefined;
    };
    const large = world();
    received(large, requestOf('PUT', { 'content-length': '101' }), 'any request', inWords);
    expect([large.done[0], large.done[2], large.done[3]]).toEqual([
      ['counted', 413],
      ['head', 200, { ...type, 'content-length': '11', connection: 'close' }],
      ['end', '"too large"'],
    ]);
    const compressed = world();
    received(compressed, requestOf('PUT', { 'content-encoding': 'gzip' }), 'any request', inWords);
    expect(compressed.done[2]).toMatchObject(['head', 415, {}]);
    expect(codes).toEqual([413, 415]);
  });

  test('whose remaining body is discarded is read up to the same limit', () => {
    const of = world();
    const request = requestOf('POST', { ...type, 'content-length': '1000' }, false);
    received(of, request);
    request.emit('data', Buffer.alloc(100));
    expect(of.done.at(-1)).toMatchObject(['write', expect.any(String)]);
    request.emit('data', Buffer.alloc(1));
    expect(of.done.at(-1)).toEqual(['end']);
  });
});
