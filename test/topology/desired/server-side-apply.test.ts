import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { applied } from '../../../src/topology/desired/server-side-apply.ts';

test.each<[string, JsonObject, JsonObject, JsonObject, JsonObject]>([
  ['sets what is applied', { a: 1 }, {}, { a: 2, b: 3 }, { a: 2, b: 3 }],
  ['leaves what others set', { a: { x: 1, y: 2 } }, { a: { x: 1 } }, { a: { x: 5 } }, { a: { x: 5, y: 2 } }],
  ['removes what is not applied any more', { a: 1, b: 2 }, { a: 1, b: 2 }, { a: 1 }, { a: 1 }],
  [
    'removes objects that are empty then, but no field of others within them',
    { a: { x: 1 }, b: { x: 1, y: 2 } },
    { a: { x: 1 }, b: { x: 1 } },
    {},
    { b: { y: 2 } },
  ],
  ['takes a list as one value', { a: [1, 2, 3] }, { a: [1] }, { a: [4] }, { a: [4] }],
  ['replaces values of other types', { a: { x: 1 } }, {}, { a: 'text' }, { a: 'text' }],
])('%s', (_, current, before, intent, result) => {
  expect(applied(current, before, intent)).toEqual(result);
});
