import { resolve, sep } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathBelow } from '../../../src/base/index.ts';

test.each<[string[], string]>([
  [['before', 'default', 'Cluster-a.yaml'], '/out/before/default/Cluster-a.yaml'],
  [['..', '.', ''], '/out/_../_./_'],
  [['../../victim', 'a/b\\c'], '/out/..%2F..%2Fvictim/a%2Fb%5Cc'],
  [['.github', 'a\0b'], '/out/.github/a%00b'],
])('%j', (names, path) => {
  expect(pathBelow('/out', ...names)).toBe(path);
});

test('each name is one step, whatever it is', () => {
  const name = fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '%', ' ', '~', '\0') });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), (names) => {
      const path = pathBelow('/out', ...names);
      expect(resolve(path)).toBe(path);
      expect(path.split(sep)).toHaveLength(2 + names.length);
    }),
  );
});
