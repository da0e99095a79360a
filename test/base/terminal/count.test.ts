import { expect, test } from 'vitest';
import { charactersIn, count, shortList, truncated, withoutNodeHint } from '../../../src/base/index.ts';

test.each([
  [[], ''],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
])('of %j two are named: %j', (names, text) => {
  expect(shortList(names, 2)).toBe(text);
});

test.each([
  [0, '0 warnings'],
  [1, '1 warning'],
  [2, '2 warnings'],
])('%i: %s', (number, text) => {
  expect(count(number, 'warning')).toBe(text);
});

test.each([
  ['', 0],
  ['aä', 2],
  ['👍a', 2],
])('%j has %i characters', (text, characters) => {
  expect(charactersIn(text)).toBe(characters);
});

test.each([
  ['abc', 'abc'],
  ['abcd', 'abc…'],
])('at most three characters of %j: %j', (text, shown) => {
  expect(truncated(text, 3)).toBe(shown);
});

test.each([
  ['self-signed certificate', 'self-signed certificate'],
  [
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca',
    'self-signed certificate',
  ],
])('without the hint of Node.js, %j is %j', (message, text) => {
  expect(withoutNodeHint(message)).toBe(text);
});
