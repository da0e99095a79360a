import { expect, test } from 'vitest';
import { shortList } from '../../../src/base/index.ts';

test.each([
  [[], ''],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
])('of %j two are named: %j', (names, text) => {
  expect(shortList(names, 2)).toBe(text);
});
