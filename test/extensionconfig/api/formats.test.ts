import { expect, test } from 'vitest';
import { isOfFormat } from '../../../src/extensionconfig/api/formats.ts';

test.each<[string, valid: unknown[], invalid: unknown[]]>([
  ['int32', [0, -1, 2 ** 31 - 1, -(2 ** 31)], [2 ** 31, -(2 ** 31) - 1, 1.5]],
  ['int64', [0, 2 ** 31, -(2 ** 40)], [1.5]],
  [
    'byte',
    ['', 'YQ==', 'YWJj\nYQ==\n'],
    // The library decides line by line: one line of base64 is enough for it.
    ['!', 'YQ', '!!!!\n', 'YQ==\nYQ=='],
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
