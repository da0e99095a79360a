import { expect, test } from 'vitest';
import { fieldAt, JsonError, maxJsonDepth, parseJson } from '../../src/kubernetes/index.ts';

const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

test('nesting up to the limit', () => {
  expect(() => parseJson(nested(maxJsonDepth))).not.toThrow();
  expect(() => parseJson(nested(maxJsonDepth + 1))).toThrow(/nests deeper/);
});

test('brackets in strings do not nest', () => {
  const text = `"${'['.repeat(1000)}\\"${'{'.repeat(1000)}"`;
  expect(parseJson(Buffer.from(text))).toBe(JSON.parse(text));
});

test('of duplicate keys the last counts, and __proto__ is an ordinary key', () => {
  expect(parseJson(Buffer.from('{"a":1,"a":2}'))).toEqual({ a: 2 });
  const value = parseJson(Buffer.from('{"__proto__":{"x":1}}')) as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(value.x).toBeUndefined();
});

test.each([
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
  ['cut off', Buffer.from('{"password":"geheim'), /not valid JSON/],
  ['nothing', Buffer.from(''), /not valid JSON/],
  ['a byte order mark in front, which JSON does not have', Buffer.from('\ufeff{}'), /not valid JSON/],
])('%s: an error that quotes nothing', (_, bytes, message) => {
  expect(() => parseJson(bytes)).toThrow(JsonError);
  expect(() => parseJson(bytes)).toThrow(message);
  expect(() => parseJson(bytes)).not.toThrow(/geheim/);
});

test.each([
  '{"a":"ä😀"}',
  '{"a":"\u007f"}',
  '["\\ud800"]',
  '"\u0080"',
])('%s is read as JSON.parse reads its text', (text) => {
  // The bytes stand in the middle of a larger buffer, as those of a body may.
  const bytes = Buffer.from(`xx${text}xx`).subarray(2, -2);
  expect(parseJson(bytes)).toEqual(JSON.parse(text));
  expect(parseJson(new Uint8Array(bytes))).toEqual(JSON.parse(text));
});

test.each<[string, (string | number)[], unknown]>([
  ['a field of a field', ['a', 'b'], 1],
  ['an item of a list', ['list', 1, 'c'], 2],
  ['the whole', [], { a: { b: 1 }, list: [0, { c: 2 }] }],
  ['a field that is missing', ['a', 'x', 'y'], undefined],
  ['a field of a text', ['a', 'b', 'length'], undefined],
  ['a field that every JavaScript object has', ['a', 'toString'], undefined],
  ['a list by a name', ['list', 'length'], undefined],
])('fieldAt: %s', (_name, path, value) => {
  expect(fieldAt({ a: { b: 1 }, list: [0, { c: 2 }] }, ...path)).toEqual(value);
});
