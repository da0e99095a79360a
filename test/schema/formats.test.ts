import { expect, test } from 'vitest';
import { formats, goDuration } from '../../src/schema/formats.ts';

test.each<[string, string | undefined]>([
  // As Go reads them.
  ['0', '0'],
  ['-0', '-0'],
  ['1h3.5m', '1h3.5m'],
  ['+1.s', '+1.s'],
  ['.5ms', '.5ms'],
  ['1µs2μs3ns', '1µs2μs3ns'],
  // In words, as the API server reads them (kube-openapi, strfmt.ParseDuration).
  ['3 days', '259200000000000ns'],
  [' 1w 2 Days3hr ', '788400000000000ns'],
  ['1 minute 5 seconds', '65000000000ns'],
  ['1 month 1s', '1000000000ns'],
  ['', undefined],
  ['-', undefined],
  ['+', undefined],
  ['x', undefined],
  ['1', undefined],
  ['00', undefined],
  ['1s!', undefined],
  ['1 month', undefined],
  ['1.5 days', undefined],
  ['12345678901234567890 days', undefined],
])('the duration %j', (text, expected) => {
  expect(goDuration(text)).toBe(expected);
});

// A repeated group in one expression ran out of stack, which ended the program.
test.each<[string, string, boolean]>([
  ['duration', '1s'.repeat(1_500_000), true],
  ['duration', `${'1s'.repeat(1_500_000)}!`, false],
  ['duration', '1d'.repeat(1_500_000), false],
  ['duration', '1'.repeat(3_000_000), false],
  ['byte', 'AAAA'.repeat(2_000_000), true],
  ['byte', `${'AAAA'.repeat(2_000_000)}!`, false],
  ['date-time', 'T'.repeat(3_000_000), false],
])('the format %s decides about a text of some MiB', (format, text, expected) => {
  expect(formats[format]?.(text)).toBe(expected);
});

test.each([
  ['', true],
  ['AA==', true],
  ['AAA=', true],
  ['A\r\nAAA', true],
  ['A===', false],
  ['====', false],
  ['AA', false],
  ['A-_A', false],
])('base64 %j: %j', (text, expected) => {
  expect(formats.byte?.(text)).toBe(expected);
});
