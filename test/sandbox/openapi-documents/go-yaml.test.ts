import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../../src/kubernetes/index.ts';
import { goYaml } from '../../../src/sandbox/openapi-documents/go-yaml.ts';
import { runs } from '../../support/runs.ts';

test.each<[Json, string]>([
  // One level is four columns, and items align with what follows their dash.
  [{ a: { b: { c: 1 } } }, 'a:\n    b:\n        c: 1\n'],
  [{ a: [{ b: { c: [1, []] }, d: {} }] }, 'a:\n    - b:\n        c:\n            - 1\n            - []\n      d: {}\n'],
  [[{ a: { b: 1 } }, [[2]]], '- a:\n    b: 1\n- - - 2\n'],
  ['self.a > 1', 'self.a > 1\n'],
  ['yes', 'yes\n'],
  ['true', '"true"\n'],
  ['', '""\n'],
  ['1_000', '"1_000"\n'],
  ['2026-01-01', '"2026-01-01"\n'],
  ["it's: so", "'it''s: so'\n"],
  ['- a', "'- a'\n"],
  ['-a', '-a\n'],
  ['a #b', "'a #b'\n"],
  ['a:', "'a:'\n"],
  [' a', "' a'\n"],
  ['\u2028\u0085\ufeff', '"\\u2028\\x85\\uFEFF"\n'],
  ['😀', '"\\U0001F600"\n'],
  ['a\tb', '"a\\tb"\n'],
  [{ a: 'b\n\nc\n' }, 'a: |\n    b\n\n    c\n'],
  [['a\nb'], '- |-\n  a\n  b\n'],
])('%j', (value, text) => {
  expect(goYaml(value)).toBe(text);
  expect(parse(text)).toEqual(value);
});

test('any value is read as it was', () => {
  const values = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const texts = fc.string({
    unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', '?', "'", '"', '1', '.', '\t', '{', 'é'),
  });
  fc.assert(
    fc.property(fc.oneof(values, texts, fc.dictionary(texts, fc.array(texts))), (value) => {
      expect(parse(goYaml(value as Json))).toEqual(value);
    }),
    { numRuns: runs(200) },
  );
});
