import { expect, test } from 'vitest';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isPortNumber,
  labelValueProblems,
  namespacedNameIn,
  qualifiedNameProblems,
} from '../../../src/kubernetes/index.ts';

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

test('counts lengths in bytes', () => {
  expect(labelValueProblems('é'.repeat(31))).toHaveLength(1);
  expect(labelValueProblems('é'.repeat(32))).toHaveLength(2);
  expect(labelValueProblems(l64)).toEqual(['must be no more than 63 bytes']);
});

const label =
  "must consist of lower case letters, digits and '-', and begin and end with a letter or digit (e.g. 'my-name')";
const subdomain =
  "must consist of lower case letters, digits, '-' and '.', and begin and end with a letter or digit (e.g. 'example.com')";
const part =
  "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')";
const twoSlashes =
  "must be a name with an optional DNS subdomain prefix and one '/' between them (e.g. 'example.com/MyName')";

test.each<[keyof typeof names, string, string[]]>([
  ['dns1123LabelProblems', 'A', [label]],
  ['dns1123LabelProblems', `-${'a'.repeat(62)}`, [label]],
  ['dns1123LabelProblems', `-${l63}`, ['must be no more than 63 bytes', label]],
  [
    'dns1035LabelProblems',
    '1',
    [
      "must consist of lower case letters, digits and '-', begin with a letter and end with a letter or digit (e.g. 'my-name')",
    ],
  ],
  ['dns1123SubdomainProblems', '.', [subdomain]],
  ['dns1123SubdomainProblems', 'a'.repeat(254), ['must be no more than 253 bytes']],
  ['dns1123SubdomainProblems', 'a'.repeat(253), []],
  [
    'labelValueProblems',
    '-',
    [
      "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')",
    ],
  ],
  ['qualifiedNameProblems', '', ['name part must not be empty']],
  ['qualifiedNameProblems', 'a/', ['name part must not be empty']],
  ['qualifiedNameProblems', '/', ['prefix part must not be empty', 'name part must not be empty']],
  ['qualifiedNameProblems', '/a', ['prefix part must not be empty']],
  ['qualifiedNameProblems', 'A/-', [`prefix part ${subdomain}`, `name part ${part}`]],
  ['qualifiedNameProblems', `a/${l64}`, ['name part must be no more than 63 bytes']],
  ['qualifiedNameProblems', 'a//', [twoSlashes]],
  ['qualifiedNameProblems', '//', [twoSlashes]],
  ['qualifiedNameProblems', '/a/', [twoSlashes]],
])('%s for %j', (check, value, problems) => {
  expect(names[check](value)).toEqual(problems);
});

test('a label begins and ends with a letter or digit, and so does each label of a subdomain', () => {
  expect(dns1123SubdomainProblems('a-b.0-c.d')).toEqual([]);
  for (const bad of ['a-.b', 'a.-b', '-a.b', 'a.b-', 'a.b_c', 'a.B', 'a\u0000b', 'a\u0080']) {
    expect(dns1123SubdomainProblems(bad), bad).toHaveLength(1);
  }
  // Dots mean nothing in the name part of a key.
  expect(qualifiedNameProblems('a.-b')).toEqual([]);
});

test('rejects a port above 65535 and below 1', () => {
  expect([1, 443, 65535].every(isPortNumber)).toBe(true);
  expect([0, -1, 65536, 1.5, Number.NaN].some(isPortNumber)).toBe(false);
});

test.each([
  ['ns/name', { namespace: 'ns', name: 'name' }],
  ['ns/a.b', { namespace: 'ns', name: 'a.b' }],
  ['n.s/name', undefined],
  ['ns/Name', undefined],
  ['ns/name/', undefined],
  ['ns/name/x/y', undefined],
  ['ns', undefined],
  ['/name', undefined],
  ['ns/', undefined],
  ['', undefined],
  ['De/ca', undefined],
  ['../../x/y', undefined],
])('%j names the object %j', (text, name) => {
  expect(namespacedNameIn(text)).toEqual(name);
});
