import { expect, test } from 'vitest';
import { coloured, count, plain } from '../../../src/base/index.ts';

test('paints text with escape sequences, but not empty text', () => {
  expect(coloured('red', 'error')).toBe('\u001b[31merror\u001b[39m');
  expect(coloured('red', '')).toBe('');
  expect(plain('red', 'error')).toBe('error');
});

test('a count has a plural', () => {
  expect([0, 1, 2].map((number) => count(number, 'warning'))).toEqual(['0 warnings', '1 warning', '2 warnings']);
});
