import { expect, test } from 'vitest';
import { parseSmallYaml, YamlError } from '../../src/files/index.ts';
import { cpuTimeMs } from '../tools/cpu-time.ts';

const longest = 64 * 1024;
const fill = (piece: string) => piece.repeat(Math.floor(longest / piece.length));

test('YAML and JSON are read', () => {
  expect(parseSmallYaml('a: {b: 1}\nc: [x, &x y, *x]\n', longest)).toEqual({ a: { b: 1 }, c: ['x', 'y', 'y'] });
  const json = String.raw`{"a": null, "b:{": ["x\"y: \\", {"c": ":"}, {}], "__proto__": 1}`;
  expect(parseSmallYaml(json, longest)).toStrictEqual(JSON.parse(json));
  expect(Object.keys(parseSmallYaml('{"__proto__": 1}', longest) as object)).toEqual(['__proto__']);
  expect(parseSmallYaml('', longest)).toBeNull();
  // The alias stands for the latest value with its name.
  expect(parseSmallYaml('a: &a {b: &a 1, c: *a}', longest)).toEqual({ a: { b: 1, c: 1 } });
});

test.each<[string, string, RegExp]>([
  ['not YAML', 'a: [', /^line 1: /],
  ['two documents', 'a: 1\n---\nb: 2\n', /^line 2: .*multiple documents/],
  ['a key twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', /^line 4: the key "c" is given twice$/],
  ['a key twice in JSON', '{"a":1,\n"b":{"c":1,\n"c":2}}', /^line 3: the key "c" is given twice$/],
  [
    'a key twice that reads alike in JSON',
    String.raw`{"a\\":1,"a\u005c":2}`,
    /^line 1: the key "a\\\\" is given twice$/,
  ],
  ['a key that is a map', '? {a: 1}\n: 2\n', /a key must be plain text/],
  ['an alias of nothing', '*x', /Unresolved alias/],
  ['a value in itself', 'a: 1\nb: &b\n  c: [*b]\n', /^line 3: the alias \*b contains itself$/],
  ['a merge of what is not a map', '%YAML 1.1\n---\n<<: 5\n', /^Merge sources must be maps/],
  ['many aliases', `a: &a x\nb: [${'*a,'.repeat(101)}]`, /^line 2: has more than 100 aliases$/],
  ['nesting too deep', `a:\n  ${'['.repeat(longest / 4)}${']'.repeat(longest / 4)}`, /^line 2: nests too deep$/],
  ['too long', `${fill('#')}##`, /^is longer than 65536 characters$/],
])('%s is refused, with the line', (_name, text, message) => {
  let problem: unknown;
  try {
    parseSmallYaml(text, longest);
  } catch (error) {
    problem = error;
  }
  expect(problem).toBeInstanceOf(YamlError);
  expect((problem as YamlError).message).toMatch(message);
});

test('the work grows with the number of keys, and no faster', () => {
  const timeOf = (keys: number) => {
    const text = Array.from({ length: keys }, (_, index) => `k${index}: 1\n`).join('');
    const startedAt = cpuTimeMs();
    parseSmallYaml(text, text.length);
    return cpuTimeMs() - startedAt;
  };
  const few = Math.min(timeOf(1_000), timeOf(1_000), timeOf(1_000));
  // Twenty times as long; each key compared with all others would be some 200 times.
  expect(timeOf(20_000)).toBeLessThan(few * 60 + 200);
});

test.each([
  ['many aliases', `a: &a x\nb: [${fill('*a,').slice(20)}]`],
  ['nothing but quotes', fill('"')],
  ['nothing but brackets', fill('[')],
  ['brackets that are closed', `${'['.repeat(longest / 2)}${']'.repeat(longest / 2)}`],
  ['documents', fill('---\n')],
])('%s take no long time', (_name, text) => {
  const startedAt = cpuTimeMs();
  try {
    parseSmallYaml(text, longest);
  } catch (error) {
    expect(error).toBeInstanceOf(YamlError);
  }
  expect(cpuTimeMs() - startedAt).toBeLessThan(10_000);
});
