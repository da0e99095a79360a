import { expect, test } from 'vitest';
import { formats, goDuration } from '../../../src/kubernetes/schema/formats.ts';

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
  // Text around numbers with units does not count.
  ['1s!', '1000000000ns'],
  ['in 3 days, 4 hours and 12 34 minutes', '275640000000000ns'],
  ['-3 days', '259200000000000ns'],
  ['1.5 days', '432000000000000ns'],
  ['000000000000000000000000001 s', '1000000000ns'],
  ['1 month', undefined],
  ['3 × days', undefined],
  ['12345678901234567890 days', undefined],
  ['1 day 9223372036854775808 months', undefined],
])('the duration %j', (text, expected) => {
  expect(goDuration(text)).toBe(expected);
});

// A repeated group in one expression ran out of stack, which ended the program.
test.each<[string, string, boolean]>([
  ['duration', '1s'.repeat(1_500_000), true],
  ['duration', `${'1s'.repeat(1_500_000)}!`, false],
  ['duration', '1d'.repeat(1_500_000), false],
  ['duration', '1'.repeat(3_000_000), false],
  ['date-time', 'T'.repeat(3_000_000), false],
  ['email', 'a.'.repeat(4_000_000), false],
  ['email', `a@${'a.'.repeat(8_400_000)}`, false],
  ['uri', `http://a/${'a'.repeat(4_000_000)}`, true],
  ['uri', `http://a/${'a'.repeat(9_000_000)}`, false],
])('the format %s decides about a text of some MiB', (format, text, expected) => {
  expect(formats[format]?.(text)).toBe(expected);
});
