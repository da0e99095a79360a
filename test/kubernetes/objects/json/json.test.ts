import { expect, test, vi } from 'vitest';
import {
  canonical,
  copyOf,
  fieldAt,
  itemsAt,
  type Json,
  JsonError,
  maxJsonDepth,
  objectAt,
  objectsAt,
  parseJson,
  setOwn,
  textAt,
  textValues,
} from '../../../../src/kubernetes/index.ts';

test.each([
  ['arrays', '[', '', ']', 256],
  ['arrays with items in front', '[0,[],', 'null', ']', 255],
  ['objects', '{"a":', '{}', '}', 255],
  ['objects with fields in front', '{"a":null,"b":"c","d":{},"e":', '1', '}', 255],
  ['both', '[{"a":', '1', '}]', 128],
])('%s nest up to the limit of 256', (_, open, inner, close, times) => {
  const nested = (depth: number) => Buffer.from(open.repeat(depth) + inner + close.repeat(depth));
  expect(maxJsonDepth).toBe(256);
  expect(parseJson(nested(times))).toEqual(JSON.parse(nested(times).toString()));
  const padded = (depth: number) => Buffer.concat([Buffer.from(' '.repeat(600_000)), nested(depth)]);
  const tooDeep = new JsonError('the JSON document nests deeper than 256 levels');
  expect(() => parseJson(nested(times + 1))).toThrow(tooDeep);
  expect(parseJson(padded(times))).toEqual(JSON.parse(nested(times).toString()));
  expect(() => parseJson(padded(times + 1))).toThrow(tooDeep);
});

test.each([
  ['arrays that end', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
  ['arrays that never end', (depth: number) => '['.repeat(depth)],
  ['after a long string', (depth: number) => `["${'\\"'.repeat(depth)}",${'{"a":'.repeat(depth)}`],
])('a large document that nests without end is not parsed: %s', (_, text) => {
  const parse = vi.spyOn(JSON, 'parse');
  expect(() => parseJson(Buffer.from(text(600_000)))).toThrow('nests deeper than 256 levels');
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});

test.each([
  ['{x', ' (at position 1 (line 1 column 2))'],
  [`${'\n'.repeat(11)}${' '.repeat(12)}{x`, ' (at position 24 (line 12 column 14))'],
  ['{"a":1', ' (at position 6 (line 1 column 7))'],
  ['', ''],
  ['hunter2', ''],
])('says where %j is invalid', (text, place) => {
  expect(() => parseJson(Buffer.from(text))).toThrow(new JsonError(`the body is not valid JSON${place}`));
});

test.each<Json>([
  null,
  0,
  'x',
  true,
  [],
  {},
  [null, [1], { a: null }],
  { a: { b: [{ c: 'd' }], e: null } },
])('a copy of %j is equal, and shares nothing', (value) => {
  const copy = copyOf(value);
  expect(copy).toEqual(value);
  const objectsIn = (one: Json): object[] =>
    typeof one === 'object' && one !== null ? [one, ...Object.values(one).flatMap(objectsIn)] : [];
  const originals = new Set(objectsIn(value));
  expect(objectsIn(copy).filter((one) => originals.has(one))).toEqual([]);
});

test('setOwn sets an ordinary property, even if it is named __proto__', () => {
  const object: Record<string, unknown> = {};
  for (const key of ['__proto__', 'a']) {
    setOwn(object, key, 1);
    setOwn(object, key, 2);
    expect(Object.getOwnPropertyDescriptor(object, key)).toEqual({
      value: 2,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  expect(Object.keys(copyOf(object as Json) as object)).toEqual(['__proto__', 'a']);
});

test.each([1_000, 300_000])('%d brackets in strings do not nest', (times) => {
  const text = `"${'['.repeat(times)}\\"${'{'.repeat(times)}"`;
  expect(parseJson(Buffer.from(text))).toBe(JSON.parse(text));
});

test('of duplicate keys the last one counts, and __proto__ is an ordinary key', () => {
  expect(parseJson(Buffer.from('{"a":1,"a":2}'))).toEqual({ a: 2 });
  const value = parseJson(Buffer.from('{"__proto__":{"x":1}}')) as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(value.x).toBeUndefined();
});

test.each([
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
  ['cut off', Buffer.from('{"password":"geheim'), /not valid JSON/],
  ['an empty input', Buffer.from(''), /not valid JSON/],
  ['a leading byte order mark, which JSON does not allow', Buffer.from('\ufeff{}'), /not valid JSON/],
])('%s: an error that does not quote the text', (_, bytes, message) => {
  expect(() => parseJson(bytes)).toThrow(JsonError);
  expect(() => parseJson(bytes)).toThrow(message);
  expect(() => parseJson(bytes)).not.toThrow(/geheim/);
});

test.each([
  '{"a":"ä😀"}',
  '{"a":"\u007f"}',
  '["\\ud800"]',
  '"\u0080"',
])('reads %s as JSON.parse reads its text', (text) => {
  // The bytes are in the middle of a larger buffer, as those of a body may be.
  const bytes = Buffer.from(`xx${text}xx`).subarray(2, -2);
  expect(parseJson(bytes)).toEqual(JSON.parse(text));
  expect(parseJson(new Uint8Array(bytes))).toEqual(JSON.parse(text));
});

test.each<[string, (string | number)[], unknown]>([
  ['a field of a field', ['a', 'b'], 1],
  ['an item of a list', ['list', 1, 'c'], 2],
  ['the whole', [], { a: { b: 1 }, list: [0, { c: 2 }] }],
  ['a field that is missing', ['a', 'x', 'y'], undefined],
  ['a field of a string', ['a', 'b', 'length'], undefined],
  ['a field that every JavaScript object has', ['a', 'toString'], undefined],
  ['a list by a name', ['list', 'length'], undefined],
])('fieldAt: %s', (_name, path, value) => {
  expect(fieldAt({ a: { b: 1 }, list: [0, { c: 2 }] }, ...path)).toEqual(value);
});

test('what is not of the type that is asked for reads as empty', () => {
  const value: Json = { object: { a: 1 }, text: 'x', list: [{ b: 2 }, 'y', null, [3]] };
  const all = [
    [objectAt(value, 'object'), textAt(value, 'text'), itemsAt(value, 'list'), objectsAt(value, 'list')],
    [objectAt(value, 'list'), textAt(value, 'object'), itemsAt(value, 'text'), objectsAt(value, 'object')],
    [objectAt(value, 'no'), textAt(value, 'no'), itemsAt(value, 'no'), objectsAt(undefined)],
  ];
  expect(all).toEqual([
    [{ a: 1 }, 'x', [{ b: 2 }, 'y', null, [3]], [{ b: 2 }]],
    [{}, '', [], []],
    [{}, '', [], []],
  ]);
});

test.each<[Json, string]>([
  [{ b: [1, 'x', null], a: { d: true, c: {} } }, '{"a":{"c":{},"d":true},"b":[1,"x",null]}'],
  [['b', { d: 1, c: 2 }], '["b",{"c":2,"d":1}]'],
  [{ 'a"': [] }, '{"a\\"":[]}'],
])('the canonical text of %j is %s', (value, text) => {
  expect(canonical(value)).toBe(text);
});

test('reads only annotations that are strings', () => {
  expect(textValues({ a: 'b', c: 1, d: null, e: '' })).toEqual({ a: 'b', e: '' });
  expect([textValues(undefined), textValues('x'), textValues(['x'])]).toEqual([{}, {}, {}]);
});
