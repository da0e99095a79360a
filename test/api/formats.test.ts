import { expect, test, vi } from 'vitest';
import { isOfFormat } from '../../src/api/formats.ts';

test.each<[string, valid: unknown[], invalid: unknown[]]>([
  ['int32', [0, -1, 2 ** 31 - 1, -(2 ** 31)], [2 ** 31, -(2 ** 31) - 1, 1.5]],
  ['int64', [0, 2 ** 31, -(2 ** 40)], [1.5]],
  [
    'byte',
    ['', 'YQ==', 'YWI=', 'A'.repeat(100_000), 'YQ==\nYQ'],
    ['!', 'YQ', 'a b=', 'a-_b', 'YQ==YQ==', 'Y===', '====', 'é'.repeat(4), `${'A'.repeat(100_000)}!`],
  ],
  [
    'date-time',
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789+01:00', `2026-01-01T00:00:00.${'1'.repeat(107)}Z`],
    ['2026-01-01', '2026-13-01T00:00:00Z', 'x', '', `2026-01-01T00:00:00.${'1'.repeat(108)}Z`],
  ],
])('%s', (format, valid, invalid) => {
  expect(valid.filter((value) => !isOfFormat(format, value))).toEqual([]);
  expect(invalid.filter((value) => isOfFormat(format, value))).toEqual([]);
});

test('only base64 characters are valid base64, wherever another one is', () => {
  const others = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => !/[A-Za-z0-9+/=\r\n\u2028\u2029]/.test(character),
  );
  for (const [before, after] of [
    ['', 'AAA'],
    ['AAA', ''],
    ['A'.repeat(61), 'A=='],
  ]) {
    expect(others.filter((character) => isOfFormat('byte', before + character + after))).toEqual([]);
  }
});

test.each([
  ['', 0],
  ['YWJj', 0],
  ['YWI=', 0],
  ['YQ==', 0],
  ['A'.repeat(64 * 1024), 0],
  ['A'.repeat(64 * 1024 + 4), 1],
  ['YQ==\nYQ==', 1],
  ['YQ', 1],
  ['Y-_k', 1],
  ['!!!!', 1],
  ['éééé', 1],
])('what the native decoder accepts as base64 is not matched by an expression: %.20j, %d', (text, expressions) => {
  const test = vi.spyOn(RegExp.prototype, 'test');
  try {
    isOfFormat('byte', text);
    expect(test).toHaveBeenCalledTimes(expressions);
  } finally {
    test.mockRestore();
  }
});

test('a format does not apply to values of other types, and an unknown one never applies', () => {
  for (const format of ['int32', 'int64']) {
    expect(isOfFormat(format, 'x')).toBe(true);
  }
  for (const format of ['byte', 'date-time']) {
    expect(isOfFormat(format, 1.5)).toBe(true);
  }
  for (const format of ['email', 'constructor', '']) {
    expect(isOfFormat(format, 'x')).toBe(true);
  }
});
