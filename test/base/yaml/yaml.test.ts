import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readableYaml } from '../../../src/base/yaml/index.ts';

test('readable YAML writes a value wherever it is, and quotes what would be read as something else', () => {
  const shared = { b: '1' };
  expect(readableYaml({ a: shared, c: shared })).toBe('a:\n  b: "1"\nc:\n  b: "1"\n');
});

test.each(['a', 'word '])('a string of a million characters, all %j, can be written', (piece) => {
  const value = { items: [{ patch: piece.repeat(1_000_000 / piece.length) }] };
  const text = readableYaml(value);
  expect(isDeepStrictEqual(parse(text), value)).toBe(true);
});
