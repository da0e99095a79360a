import { expect, test } from 'vitest';
import { formatAge } from '../../../src/sandbox/reads/tables.ts';

test.each([
  [0, '0s'],
  [119, '119s'],
  [200, '3m'],
  [3600, '60m'],
  [4 * 3600, '4h'],
  [30 * 3600, '30h'],
  [5 * 86400, '5d'],
  [800 * 86400, '800d'],
])('an age of %d seconds is %s', (seconds, text) => {
  expect(formatAge(seconds * 1000)).toBe(text);
});
