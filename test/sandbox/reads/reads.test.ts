import { expect, test } from 'vitest';
import { isOn } from '../../../src/sandbox/reads/reads.ts';

test.each([
  ['', false],
  ['watch', true],
  ['watch=', true],
  ['watch=True', true],
  ['watch=1', true],
  ['watch=yes', true],
  ['watch=0', false],
  ['watch=False', false],
])('the query %j requests a watch: %s', (query, watches) => {
  expect(isOn(new URLSearchParams(query), 'watch')).toBe(watches);
});
