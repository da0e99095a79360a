import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createFirstJsonScanner,
  JsonError,
  parseFirstJson,
  withWholeFractionsShown,
} from '../../src/kubernetes/index.ts';

test('the end of the first array or object is found, whatever its pieces', () => {
  const nested = fc.jsonValue().map((value) => JSON.stringify({ '"}\\': value }));
  fc.assert(
    fc.property(nested, fc.string(), fc.array(fc.nat(40), { maxLength: 20 }), (first, rest, cuts) => {
      const bytes = Buffer.from(first + rest);
      const scanner = createFirstJsonScanner();
      let [from, end] = [0, -1];
      for (const length of [...cuts, bytes.length]) {
        const found = scanner.scan(bytes.subarray(from, from + length));
        end = found === undefined ? end : from + found;
        from += length;
      }
      expect(end).toBe(Buffer.byteLength(first));
      expect(scanner.hasEnded).toBe(true);
    }),
  );
});

test.each(['', ' ', 'null', '12', '"{}"', '{"a":"}', '{"a":"\\"}', '[[]'])('%j has no such end', (text) => {
  const scanner = createFirstJsonScanner();
  expect(scanner.scan(Buffer.from(text))).toBeUndefined();
  expect(scanner.hasEnded).toBe(false);
});

test.each<[string, unknown]>([
  ['{"a":[1]}', { a: [1] }],
  [' [1] ', [1]],
  ['7', 7],
  ['{"a":1}{"a":2}', { a: 1 }],
  ['{"a":{"b":[{}]}} rest', { a: { b: [{}] } }],
  ['[[1],[2]]]', [[1], [2]]],
  ['[] []', []],
  ['{"a":"}"} {', { a: '}' }],
  ['{"a":"\\"}"}}', { a: '"}' }],
  ['{"a\\\\":"]"}x', { 'a\\': ']' }],
  ['{"ä":"\u{1F600}"}\n\n{', { ä: '\u{1F600}' }],
])('%j begins with a value', (text, value) => {
  expect(parseFirstJson(Buffer.from(text))).toEqual(value);
});

test.each(['', 'x', '{', '}', ']{}', '{"a":1', '{"a":"}', '{a}{}', '"a" x'])('%j does not', (text) => {
  expect(() => parseFirstJson(Buffer.from(text))).toThrow(JsonError);
});

test('what is too deep is refused, with and without a rest', () => {
  const deep = '['.repeat(257) + ']'.repeat(257);
  for (const text of [deep, `${deep} rest`]) {
    expect(() => parseFirstJson(Buffer.from(text))).toThrow('the JSON document nests deeper than 256 levels');
  }
});

test.each<[string, unknown]>([
  ['{"a":30.0}', { a: 0.5 }],
  ['{"a":[3e1,1.5,-2E0,3]}', { a: [0.5, 1.5, 0.5, 3] }],
  ['{"a": 0.0} rest', { a: 0.5 }],
  ['{"a":30,"b":1}', undefined],
  ['{"a":"x 3.0"}', undefined],
  // A text that looks like a number is one reason to look closer, and nothing else.
  ['{"a":":3.0"}', { a: ':3.0' }],
])('the whole fractions of %s are shown: %j', (text, shown) => {
  expect(withWholeFractionsShown(Buffer.from(text))).toEqual(shown);
});
