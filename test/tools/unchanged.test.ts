import { expect, test } from 'vitest';
import { type Passed, toCheck } from './unchanged.ts';

const before: Passed = { settings: 'strict', files: { 'a.ts': '1', 'b.ts': '2', 'gone.ts': '3' } };

test('what passed is not checked again, and what is new or holds something else is', () => {
  expect(toCheck(before, before)).toEqual([]);
  const now = { settings: 'strict', files: { 'a.ts': '1', 'b.ts': '1', 'new.ts': '3' } };
  expect(toCheck(now, before)).toEqual(['b.ts', 'new.ts']);
});

test('all is checked the first time, and with other settings', () => {
  expect(toCheck(before, undefined)).toEqual(['.']);
  expect(toCheck({ ...before, settings: 'stricter' }, before)).toEqual(['.']);
});

test('all is checked where too much has changed for a command line', () => {
  const files = Object.fromEntries(Array.from({ length: 301 }, (_, index) => [`${index}.ts`, '']));
  expect(toCheck({ settings: 'strict', files }, before)).toEqual(['.']);
});
