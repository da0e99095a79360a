import { expect, test } from 'vitest';
import { parseYaml } from '../../../src/sandbox/openapi-documents/yaml.ts';
import { limitWork } from '../../support/work.ts';

function parse(text: string): unknown {
  return parseYaml(Buffer.from(text));
}

test.each<[string, string, unknown]>([
  ['a map', 'a: 1\nb: [x, yes, "no"]\n', { a: 1, b: ['x', true, 'no'] }],
  ['JSON', '{"a": {"b": null}}', { a: { b: null } }],
  ['aliases', 'a: &x {b: 1}\nc: *x\n', { a: { b: 1 }, c: { b: 1 } }],
  ['a document after its separator', '# one\n---\n{a: 1}\n', { a: 1 }],
  ['a bare text', 'x', 'x'],
  ['an empty text', '', null],
])('reads %s', (_name, text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each<[string, string, string]>([
  ['a duplicate key', 'a: 1\nb: 2\na: 3\n', 'line 3: YAML: duplicate key "a" in a map'],
  ['two documents in braces', '{a: 1}\n---\n{a: 1}\n', 'more than one document'],
  ['an error after a separator', '# one\n---\nb: *x\n', 'line 3: YAML: '],
  ['a tab', 'a:\n\tb: 1\n', 'line 2: YAML: '],
  ['an undefined alias', 'a: *x\n', 'line 1: YAML: '],
  ['several documents', 'a: 1\n---\nb: 1\n', 'more than one document'],
  ['a value nested too deeply', `a: ${'['.repeat(300)}${']'.repeat(300)}`, 'nests deeper than 256 levels'],
  [
    'an alias of a long text, many times',
    `a: &x ${'x'.repeat(100_000)}\nb: [${'*x, '.repeat(1_000)}]\n`,
    'aliases expand to more than 12582912 characters',
  ],
])('rejects %s', (_name, text, message) => {
  expect(() => parse(text)).toThrow(message);
});

// A reader that compares each key with all previous ones takes more than ten seconds for the first, and so does a
// reader that looks for anchors from the start of the document for the last.
test.each<[string, (count: number) => string]>([
  ['keys', (count) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n')],
  ['keys in braces', (count) => `{${Array.from({ length: count }, (_, index) => `k${index}: 1`).join(', ')}}`],
  ['anchors', (count) => Array.from({ length: count }, (_, index) => `- &a${index} 1\n- *a${index}`).join('\n')],
])('a body with a huge number of %s is read in linear time', { timeout: 60_000 }, (_name, text) => {
  using _work = limitWork(3_000);
  expect(parse(text(15_000))).toBeTypeOf('object');
});
