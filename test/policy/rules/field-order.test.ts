import { expect, test } from 'vitest';
import type { FieldPath } from '../../../src/kubernetes/index.ts';
import { compareFieldPaths } from '../../../src/policy/rules/field-order.ts';

/** In the order of the API's schema. */
const ordered: FieldPath[] = [
  [],
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ['metadata', 'name'],
  ['metadata', 'generateName'],
  ['metadata', 'labels', 'z'],
  ['metadata', 'annotations', 'a'],
  ['metadata', 'annotations', 'b'],
  ['spec'],
  ['spec', 'clientConfig'],
  ['spec', 'clientConfig', 'url'],
  ['spec', 'clientConfig', 'service', 'namespace'],
  ['spec', 'clientConfig', 'service', 'name'],
  ['spec', 'clientConfig', 'caBundle'],
  ['spec', 'clientConfig', 'aUnknown'],
  ['spec', 'clientConfig', 'zUnknown'],
  ['spec', 'settings', 'a'],
  ['spec', 'aUnknown'],
  ['status', 'handlers'],
  ['status', 'handlers', 2],
  ['status', 'handlers', 2, 'name'],
  ['status', 'handlers', 2, 'requestHook', 'hook'],
  ['status', 'handlers', 2, 'timeoutSeconds'],
  ['status', 'handlers', 2, 'failurePolicy'],
  ['status', 'handlers', 2, 'aUnknown'],
  ['status', 'handlers', 10, 'failurePolicy'],
  ['aUnknown'],
  ['aUnknown', 'deeper', 2],
  ['aUnknown', 'deeper', 10],
  ['aUnknown', 'other'],
  ['zUnknown'],
];

test("findings are in the order of the schema's fields, unknown fields last", () => {
  expect([...ordered].reverse().sort(compareFieldPaths)).toEqual(ordered);
  for (const [index, a] of ordered.entries()) {
    for (const [other, b] of ordered.entries()) {
      expect(Math.sign(compareFieldPaths(a, b)), `${a.join()} and ${b.join()}`).toBe(Math.sign(index - other));
    }
  }
});

test('a name and an index at the same position have an order, too', () => {
  expect(compareFieldPaths(['spec', 0], ['spec', 'a'])).toBeLessThan(0);
  expect(compareFieldPaths(['spec', 'a'], ['spec', 0])).toBeGreaterThan(0);
});
