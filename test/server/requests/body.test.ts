import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Connection } from '../../../src/server/connections/connection.ts';
import { collectBody, type HttpRequest, headerRefusal } from '../../../src/server/requests/body.ts';
import type { Refusal } from '../../../src/server/requests/refusal.ts';

class Incoming extends EventEmitter {
  readonly method: string;
  readonly headers: Record<string, string>;
  constructor(method: string, headers: Record<string, string>) {
    super();
    this.method = method;
    this.headers = headers;
  }
}
const requestOf = (method: string, headers: Record<string, string> = {}) =>
  new Incoming(method, headers) as unknown as HttpRequest & EventEmitter;
const json = { 'content-type': 'application/json' };

describe('the header of a request', () => {
  const refused = (
    method: string,
    headers: Record<string, string>,
    wanted: 'posted JSON' | 'any request' = 'posted JSON',
  ) => headerRefusal(requestOf(method, headers), 100, wanted);
  const notJson = { code: 415, message: 'the content type must be application/json' };
  const compressed = { code: 415, message: 'the body must not be compressed: omit Content-Encoding' };
  const tooLarge = { code: 413, message: 'the body must not be larger than 100 bytes' };

  test.each<[string, string, Record<string, string>, object | undefined]>([
    ['posted JSON', 'POST', json, undefined],
    ['JSON in capitals, with a charset', 'POST', { 'content-type': 'APPLICATION/JSON ; charset=utf-8' }, undefined],
    ['another method', 'PUT', json, { code: 405, message: 'PUT is not supported here: use POST' }],
    ['another type', 'POST', { 'content-type': 'application/jsonp' }, notJson],
    ['another type around it', 'POST', { 'content-type': 'x/application/json' }, notJson],
    ['no type', 'POST', {}, notJson],
    ['as many bytes as are allowed', 'POST', { ...json, 'content-length': '100' }, undefined],
    ['one more', 'POST', { ...json, 'content-length': '101' }, tooLarge],
    ['an encoding', 'POST', { ...json, 'content-encoding': 'gzip' }, compressed],
    ['the encoding identity', 'POST', { ...json, 'content-encoding': 'Identity' }, undefined],
  ])('%s', (_, method, headers, expected) => {
    expect(refused(method, headers)).toEqual(expected);
  });

  test('may have any method and content type if any request is wanted', () => {
    expect(refused('GET', {}, 'any request')).toBeUndefined();
    expect(refused('PUT', { 'content-length': '101' }, 'any request')).toEqual(tooLarge);
    expect(refused('PUT', { 'content-encoding': 'br' }, 'any request')).toEqual(compressed);
  });
});

describe('a body', () => {
  /** Sends chunks to a server that accepts 100,000 bytes; `room` is how many may be in memory. */
  async function collected(
    chunks: readonly Buffer[],
    headers: Record<string, string> = {},
    room = Number.POSITIVE_INFINITY,
  ) {
    const request = requestOf('POST', headers);
    const held: number[] = [];
    let left = room;
    const hold = (bytes: number) => {
      held.push(bytes);
      left -= bytes;
      return left >= 0;
    };
    const connection = new Connection(new Socket(), new Set());
    const result = collectBody({ request, connection, hold }, 100_000);
    for (const chunk of chunks) {
      request.emit('data', chunk);
    }
    request.emit('end');
    const body: Buffer | Refusal = await result;
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const { bodyBytes } = connection;
    // A refused body is not read on.
    expect(Buffer.isBuffer(body) ? bodyBytes === length : bodyBytes >= 0 && bodyBytes <= length).toBe(true);
    // Listeners would keep the body.
    expect([request.listenerCount('data'), request.listenerCount('end')]).toEqual([0, 0]);
    return Buffer.isBuffer(body) ? { text: String(body), held } : { refusal: body, held };
  }
  const pieces = (text: string, length: number) =>
    Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
      Buffer.from(text.slice(index * length, (index + 1) * length)),
    );
  const long = Array.from({ length: 20_000 }, (_, index) => `${index % 10}`).join('');
  const noRoom = { code: 503, message: 'too many bytes of other requests are in flight: try again in a second' };
  const tooLarge = { code: 413, message: 'the body must not be larger than 100000 bytes' };

  test.each([
    ['in one piece', [Buffer.from('abc')], '3', 'abc', [3]],
    ['in two', pieces('abcdef', 4), '6', 'abcdef', [6]],
    ['in small pieces, beyond the first buffer', pieces(long, 5), `${long.length}`, long, [20_000]],
    ['byte by byte', pieces(long.slice(0, 4_000), 1), '4000', long.slice(0, 4_000), [4_000]],
    ['of no bytes', [], '0', '', [0]],
  ])('of a known length %s', async (_, chunks, length, text, held) => {
    expect(await collected(chunks, { 'content-length': length })).toEqual({ text, held });
  });

  test('of an unknown length is buffered as it arrives', async () => {
    expect(await collected(pieces('abcdef', 4))).toEqual({ text: 'abcdef', held: [4, 2] });
    expect(await collected(pieces(long, 7_000))).toEqual({ text: long, held: [7_000, 7_000, 6_000] });
    expect(await collected([])).toEqual({ text: '', held: [] });
  });

  test('for which there is no room is refused, and not read on', async () => {
    expect(await collected(pieces('abcdef', 4), { 'content-length': '6' }, 5)).toEqual({ held: [6], refusal: noRoom });
    expect(await collected(pieces('abcdefgh', 2), {}, 5)).toEqual({ held: [2, 2, 2], refusal: noRoom });
    expect(await collected(pieces('abcdef', 2), {}, 6)).toMatchObject({ text: 'abcdef' });
  });

  test.each([
    ['of a known length', { 'content-length': '20000' }],
    ['of an unknown length', {}],
  ])('%s in pieces of one byte is refused, after some thousand of them', async (_, headers) => {
    expect((await collected(pieces(long, 1), headers)).refusal).toEqual({
      code: 400,
      message:
        'the body arrives in too many small pieces, 4162 of 1 bytes on average: send at least 64 bytes at a time',
    });
  });

  test('may arrive in pieces of 64 bytes, however many', async () => {
    const chunks = Array.from({ length: 1_500 }, () => Buffer.alloc(64, 'x'));
    const ones = Array.from({ length: 4_000 }, () => Buffer.from('x'));
    expect(await collected([...ones, ...chunks])).not.toHaveProperty('refusal');
  });

  test('that grows too large is refused', async () => {
    const chunk = Buffer.alloc(50_000, 'x');
    expect(await collected([chunk, chunk])).not.toHaveProperty('refusal');
    expect(await collected([chunk, chunk, Buffer.from('x'), chunk])).toEqual({
      held: [50_000, 50_000],
      refusal: tooLarge,
    });
  });
});
