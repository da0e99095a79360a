import { expect, test } from 'vitest';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isPortNumber,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../src/kubernetes/index.ts';

const names = {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
};

const l63 = 'a'.repeat(63);
const l64 = 'a'.repeat(64);

test.each([
  ['dns1123LabelProblems', ['a', '0', 'a-b', l63], ['', '-a', 'a-', 'A', 'a.b', 'ä', 'a\n', l64]],
  ['dns1035LabelProblems', ['a', 'a-0', l63], ['', '0', '1a', 'a-', 'A', l64]],
  ['dns1123SubdomainProblems', ['a', 'a.b', '0.1'], ['', 'a.', '.a', 'a..b', 'A', 'a'.repeat(254)]],
  ['qualifiedNameProblems', ['a', 'A_b.c', 'example.com/A', l63], ['', '/a', 'a/', 'a/b/c', 'A.com/a', '-a', l64, 'é']],
  ['labelValueProblems', ['', 'a', 'A_b.c', l63], ['-', ' ', 'a/b', '_a', l64, 'ü']],
] as const)('%s', (check, valid, invalid) => {
  expect(valid.filter((value) => names[check](value).length > 0)).toEqual([]);
  expect(invalid.filter((value) => names[check](value).length === 0)).toEqual([]);
});

test('lengths are counted in bytes', () => {
  expect(labelValueProblems('é'.repeat(31))).toHaveLength(1);
  expect(labelValueProblems('é'.repeat(32))).toHaveLength(2);
  expect(labelValueProblems(l64)).toEqual(['must be no more than 63 bytes']);
});

test('a label begins and ends with a letter or digit, a subdomain with each of its labels', () => {
  expect(dns1123SubdomainProblems('a-b.0-c.d')).toEqual([]);
  for (const bad of ['a-.b', 'a.-b', '-a.b', 'a.b-', 'a.b_c', 'a.B', 'a\u0000b', 'a\u0080']) {
    expect(dns1123SubdomainProblems(bad), bad).toHaveLength(1);
  }
  // Dots mean nothing in the name part of a key.
  expect(qualifiedNameProblems('a.-b')).toEqual([]);
});

test('port numbers', () => {
  expect([1, 443, 65535].every(isPortNumber)).toBe(true);
  expect([0, -1, 65536, 1.5, Number.NaN].some(isPortNumber)).toBe(false);
});
