import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { duplicateFields } from '../../../src/sandbox/writes/duplicate-fields.ts';
import { limitWork } from '../../support/work.ts';

test.each([
  ['{"a":1,"a":1}', ['a']],
  ['{"a":1,"\\u0061":1}', ['a']],
  ['{"spec":{"list":[{},{"foo":"\\"x\\":","foo":{"x":1}}]},"spec" :{}}', ['spec.list[1].foo', 'spec']],
  ['{"a":{"a":1},"b":["a","a"],"c":"\\",\\"a\\":"}', []],
])('the duplicate fields of %s', (text, paths) => {
  expect(duplicateFields(text)).toEqual(paths);
});

test('duplicate fields of a large body are found in linear time, and only some are listed', () => {
  const fields = Array.from({ length: 25_000 }, (_, i) => `"key-${i}":{"a":[1,"${'x'.repeat(10)}"],"a":2}`);
  const text = `{"data":{${fields.join(',')}},"long":"${'x\\n'.repeat(75_000)}"}`;
  // With a YAML parser that keeps positions: over 2 s and 250 MB.
  using _work = limitWork(1_000);
  const found = duplicateFields(text);
  expect(found).toHaveLength(100);
  expect(found[1]).toBe('data.key-1.a');
});

test('the output of JSON.stringify has no duplicate fields', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      // fc.json() may write duplicate keys itself; after parsing and serializing, each occurs once.
      const value = JSON.parse(text) as Json;
      expect(duplicateFields(JSON.stringify(value, undefined, 1))).toEqual([]);
    }),
  );
});
