import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parseSmallYaml, readableYaml, YamlError } from '../../../src/base/yaml/index.ts';
import { expectLinear } from '../../support/work.ts';

const longest = 64 * 1024;

test('YAML and JSON are read', () => {
  expect(parseSmallYaml('a: {b: 1}\nc: [x, y]\n', longest)).toEqual({ a: { b: 1 }, c: ['x', 'y'] });
  const json = String.raw`{"a": null, "b:{": ["x\"y: \\", {"c": ":"}, {}], "__proto__": 1}`;
  expect(parseSmallYaml(json, longest)).toStrictEqual(JSON.parse(json));
  expect(Object.keys(parseSmallYaml('{"__proto__": 1}', longest) as object)).toEqual(['__proto__']);
  expect(parseSmallYaml('', longest)).toBeNull();
});

test('readable YAML writes a value wherever it is, and quotes what would be read as something else', () => {
  const shared = { b: '1' };
  expect(readableYaml({ a: shared, c: shared })).toBe('a:\n  b: "1"\nc:\n  b: "1"\n');
});

const brackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
test.each<[string, string]>([
  ['values', String.raw`{"a": [1, null, "b:{", {"c": [{}, []]}], "d": {"e\\\":": true}}`],
  ['a value that is not an object', '"a: b"'],
  ['as much nesting as is read as JSON', brackets(64)],
  ['as many brackets, side by side', `[${Array(100).fill('[{}]').join()}]`],
  ['more nesting', brackets(65)],
])('JSON is read as itself: %s', (_, json) => {
  expect(parseSmallYaml(json, longest)).toEqual(JSON.parse(json));
});

test.each<[string, string, RegExp]>([
  ['not YAML', 'a: [', /^line 1: /],
  ['two documents', 'a: 1\n---\nb: 2\n', /^contains more than one document$/],
  ['a key that is an alias', 'x: &a k\n*a : 1\n', /^line 2: a key must be plain text$/],
  ['a duplicate key', 'a: 1\nb:\n  c: 1\n  c: 2\n', /^line 4: the key "c" is duplicated$/],
  ['a duplicate key in JSON', '{"a":1,\n"b":{"c":1,\n"c":2}}', /^line 3: the key "c" is duplicated$/],
  [
    'a duplicate key that is written differently in JSON',
    String.raw`{"a\\":1,"a\u005c":2}`,
    /^line 1: the key "a\\\\" is duplicated$/,
  ],
  ['a key that is a map', '? {a: 1}\n: 2\n', /a key must be plain text/],
  ['an alias', 'a: &x 1\nb: *x', /^line 2: has the alias \*x: write the value again$/],
  ['a long key twice', `${'b'.repeat(99)}: 1\n${'b'.repeat(99)}: 1\n`, /the key "b{64}" is duplicated$/],
  ['a tag that only programs know', 'a: 1\nb: !x 1\n', /^line 2: Unresolved tag: !x$/],
  ['a long tag', `a: !${'x'.repeat(400)} 1`, /^line 1: Unresolved tag: !x{250,300}$/],
  ['nesting too deep', `a:\n  ${'['.repeat(4000)}${']'.repeat(4000)}`, /^line 2: nests too deeply$/],
  ['too long', '#'.repeat(longest + 1), /^is longer than 65536 characters$/],
])('%s is rejected, with the line', (_name, text, message) => {
  let problem: unknown;
  try {
    parseSmallYaml(text, longest);
  } catch (error) {
    problem = error;
  }
  expect(problem).toBeInstanceOf(YamlError);
  expect((problem as YamlError).message).toMatch(message);
});

/** Why a text is rejected; undefined if it is valid. */
function problemOf(text: string): string | undefined {
  try {
    parseSmallYaml(text, text.length);
    return undefined;
  } catch (error) {
    return error instanceof YamlError ? error.message : String(error);
  }
}

test.each<[string, number, (size: number) => string, string | undefined]>([
  // Comparing each key with all others would take 16 times as long for four times as many.
  ['keys', 32_000, (size) => Array.from({ length: size / 8 }, (_, index) => `k${index}: 1\n`).join(''), undefined],
  ['quotes', 64_000, (size) => '"'.repeat(size), 'line 1: Unexpected double-quoted-scalar at node end'],
  ['open brackets', 64_000, (size) => '['.repeat(size), 'line 1: nests too deeply'],
  ['brackets', 64_000, (size) => '['.repeat(size / 2) + ']'.repeat(size / 2), 'line 1: nests too deeply'],
  ['documents', 64_000, (size) => '---\n'.repeat(size / 4), 'contains more than one document'],
  // Quoting the line of each error would mean reading it as often.
  [
    'errors in one long line',
    256_000,
    (size) => `${'"'.repeat(size / 128)} ${'x'.repeat(size)}`,
    'line 1: Unexpected double-quoted-scalar at node end',
  ],
])('the work is linear in the number of %s', async (_name, size, text, problem) => {
  await expectLinear(size, async (part) => expect(problemOf(text(part))).toBe(problem));
});

test.each(['a', 'word ', 'é'])('a string of 3 million characters, all %j, can be written', (piece) => {
  const value = { items: [{ patch: piece.repeat(3_000_000 / piece.length) }] };
  const text = readableYaml(value);
  expect(isDeepStrictEqual(parseSmallYaml(text, text.length), value)).toBe(true);
});
