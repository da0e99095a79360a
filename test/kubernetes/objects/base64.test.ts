import { describe, expect, test, vi } from 'vitest';
import { isBase64 } from '../../../src/kubernetes/index.ts';

test.each([
  ['', true],
  ['YQ==', true],
  ['YWI=', true],
  ['a+/b', true],
  ['A\r\nAAA', true],
  ['\n', true],
  ['YQ==\n', true],
  ['YQ=\n=', true],
  ['A===', false],
  ['A==\n=', false],
  ['====', false],
  ['AA', false],
  ['AA\n', false],
  ['A-_A', false],
  ['a b=', false],
  ['YQ==YQ==', false],
  ['YQ==\nYQ==', false],
  ['YQ==\nYQ', false],
  ['!!!!\n', false],
  ['éééé', false],
])('%j: %j', (text, expected) => {
  expect(isBase64(text)).toBe(expected);
});

test('only base64 characters are valid, wherever another one is', () => {
  const others = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => !/[A-Za-z0-9+/=\r\n]/.test(character),
  );
  expect(others.filter((character) => isBase64(`AA\n${character}A`))).toEqual([]);
  const few = others.filter((character) => character < '\u0200');
  for (const [before, after] of [
    ['', 'AAA'],
    ['AAA', ''],
    ['A'.repeat(61), 'A=='],
  ]) {
    expect(few.filter((character) => isBase64(before + character + after))).toEqual([]);
  }
});

// A repeated group in an expression ran out of stack from 8 MiB on.
describe('a text of 10 MiB is decided on', () => {
  const long = 'A'.repeat(10 * 1024 * 1024);
  // As long as in MIME and PEM.
  const lines = `${'A'.repeat(76)}\n`.repeat(140_000);
  test.each([
    ['one line', long, true],
    ['one line and another character', `${long}!`, false],
    ['lines', lines, true],
    ['lines without a last character', `${lines}A`, false],
  ])('%s', (_, text, expected) => {
    expect(isBase64(text)).toBe(expected);
  });
});

test('what the native decoder accepts is not read again', () => {
  const read = vi.spyOn(String.prototype, 'charCodeAt');
  const test = vi.spyOn(RegExp.prototype, 'test');
  try {
    isBase64('A'.repeat(64 * 1024));
    expect([read.mock.calls.length, test.mock.calls.length]).toEqual([0, 0]);
  } finally {
    read.mockRestore();
    test.mockRestore();
  }
});
