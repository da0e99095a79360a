import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasFormat } from '../../../src/kubernetes/schema/formats.ts';
import { testRows } from '../../support/rows.ts';

test.each<[string, boolean]>([
  // As Go reads them.
  ['0', true],
  ['-0', true],
  ['1h3.5m', true],
  ['+1.s', true],
  ['.5ms', true],
  ['1µs2μs3ns', true],
  // In words, as the API server reads them (kube-openapi, strfmt.ParseDuration).
  ['3 days', true],
  [' 1w 2 Days3hr ', true],
  ['1 minute 5 seconds', true],
  ['1 month 1s', true],
  ['', false],
  ['-', false],
  ['+', false],
  ['x', false],
  ['1', false],
  ['00', false],
  // Text around numbers with units does not count.
  ['1s!', true],
  ['in 3 days, 4 hours and 12 34 minutes', true],
  ['-3 days', true],
  ['1.5 days', true],
  ['1 month', false],
  ['3 × days', false],
])('the duration %j: %s', (text, expected) => {
  expect(hasFormat(text, 'duration')).toBe(expected);
});

// A repeated group in one expression ran out of stack, which ended the program.
test.each<[string, string, boolean]>([
  ['duration', '1s'.repeat(1_500_000), false],
  ['date-time', 'T'.repeat(3_000_000), false],
  ['email', 'a.'.repeat(4_000_000), false],
  ['email', `a@${'a.'.repeat(8_400_000)}`, false],
  ['uri', `http://a/${'a'.repeat(4_000_000)}`, true],
  ['uri', `http://a/${'a'.repeat(9_000_000)}`, false],
])('the format %s decides about a text of some MiB', (format, text, expected) => {
  expect(hasFormat(text, format)).toBe(expected);
});

/** Texts, each with the formats that apiextensions-apiserver 0.36.4 takes it for. */
const recorded = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kube-apiserver/formats.json', import.meta.url), 'utf8'),
) as Record<string, string>;
const formats = [
  ...['byte', 'email', 'uri', 'duration', 'date', 'date-time', 'hostname', 'cidr', 'ipv4', 'ipv6', 'k8s-long-name'],
  ...['k8s-short-name', 'mac', 'uuid', 'uuid3', 'uuid4', 'uuid5'],
];
/** Where this program decides otherwise. */
const known = new Map([
  ['', ['byte']],
  ['Zm9v\n', ['byte']],
  ['a@[1.2.3.4]', ['email']],
  ['::ffff:01.2.3.4', ['ipv4']],
  ['001122334455', ['mac']],
  ['2020-01-01T00:00:00ZT', ['date-time']],
]);

testRows('texts have the formats that an API server takes them for', Object.entries(recorded), (names, text) => {
  const differing = formats.filter((name) => hasFormat(text, name) !== names.split(' ').includes(name));
  expect(differing).toEqual(known.get(text) ?? []);
});
