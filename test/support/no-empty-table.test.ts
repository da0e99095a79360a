import { describe, expect, test } from 'vitest';

test.each([1])('a table with rows is tested', (row) => expect(row).toBe(1));

test('a table without rows is an error', () => {
  expect(() => test.each([])('%s', () => {})).toThrow('each() of a table without rows');
  expect(() => describe.each([])('%s', () => {})).toThrow('each() of a table without rows');
  expect(() => test.for([])('%s', () => {})).toThrow('for() of a table without rows');
  expect(() => describe.for([])('%s', () => {})).toThrow('for() of a table without rows');
});
