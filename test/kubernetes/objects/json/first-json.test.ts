import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { JsonError, parseFirstJson, withWholeFractionsShown } from '../../../../src/kubernetes/index.ts';
import { expectLinear, limitWork, sized } from '../../../support/work.ts';

test('finds the end of the first array or object, whatever it contains and whatever follows', () => {
  const parts = fc.constantFrom('"', '\\', 'x'.repeat(63), 'y'.repeat(200), '}', '3.0', 'ä');
  const first = fc
    .tuple(fc.jsonValue(), fc.array(parts))
    .map(([value, some]) => ({ '"}\\': value, [some.join('')]: 1 }));
  fc.assert(
    fc.property(first, fc.string(), (value, rest) => {
      const text = JSON.stringify(value);
      expect(parseFirstJson(Buffer.from(text + rest))).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  ['quotes', '\\"'],
  ['backslashes now and then', `${'x'.repeat(70)}\\n`],
  ['short neighbors', `${'x'.repeat(70)}","`],
])('finds the end of strings with many %s in linear time', async (_, part) => {
  await expectLinear(2_000_000, async (size) => {
    expect(parseFirstJson(Buffer.from(`["${part.repeat(size / part.length)}"]}`))).toBeInstanceOf(Array);
  });
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

test.each([
  '',
  'x',
  '{',
  '}',
  ']{}',
  '{"a":1',
  '{"a":"}',
  '{a}{}',
  '"a" x',
])('%j does not begin with a value', (text) => {
  expect(() => parseFirstJson(Buffer.from(text))).toThrow(JsonError);
});

test.each(['{"a":1', '[1,]'])('%j, which nothing follows, is parsed once', (text) => {
  using parse = vi.spyOn(JSON, 'parse');
  expect(() => parseFirstJson(Buffer.from(text))).toThrow(JsonError);
  expect(parse).toHaveBeenCalledTimes(1);
});

test('rejects deep nesting, with and without trailing text', () => {
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
  ['{"a":":3.0"}', undefined],
  ['{"a":"\\\\","b\\"c":"\\",4.0,","d":[1E+2 ,-0.0e-7\n]}', { a: '\\', 'b"c': '",4.0,', d: [0.5, 0.5] }],
  ['{"a":1e400}', undefined],
])('replaces whole numbers written as fractions in %s: %j', (text, shown) => {
  expect(withWholeFractionsShown(Buffer.from(text))).toEqual(shown);
});

test('replaces exactly the numbers whose source text, according to JSON.parse, is a whole fraction', () => {
  const number = fc.oneof(
    fc.constantFrom('0', '-0', '0.0', '30', '30.0', '3e1', '-2E+0', '15E-1', '1.5', '1e400', '1e-400', '1e21'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  );
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      number,
      fc.oneof(fc.string(), fc.constantFrom(':3.0', ',1e1', '"', '\\', '\u00e4')).map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'false', 'null', ' 1.0 '),
      fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(fc.tuple(fc.string(), tie('json')), { maxLength: 4 })
        .map((fields) => `{${fields.map(([key, value]) => `${JSON.stringify(key)} :${value}`).join(',')}}`),
    ),
  }));
  const parse = JSON.parse as (
    text: string,
    reviver: (...args: [string, unknown, { source?: string }]) => unknown,
  ) => unknown;
  fc.assert(
    fc.property(json, fc.constantFrom('', ' ', '{"b":2.0}'), (value, rest) => {
      const text = `[${value}]`;
      let count = 0;
      const expected = parse(text, (_key, one, { source = '' }) => {
        const isShown = Number.isInteger(one) && /[.eE]/.test(source);
        count += isShown ? 1 : 0;
        return isShown ? 0.5 : one;
      });
      // Of duplicate keys, the reviver sees the last one.
      const shown = withWholeFractionsShown(Buffer.from(text + rest));
      expect(shown ?? JSON.parse(text)).toEqual(expected);
      if (count > 0) {
        expect(shown).toBeDefined();
      }
    }),
  );
});

test('looking for whole fractions takes little longer than reading the response', () => {
  const items = Buffer.from(`{"fraction":1.0,"x":[${'{},'.repeat(sized(600_000))}0]}`);
  // Some 30 ms.
  using _work = limitWork(400);
  expect(withWholeFractionsShown(items)).toMatchObject({ fraction: 0.5 });
});
