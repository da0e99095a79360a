import { expect, test } from 'vitest';
import { onlyValue, type ReadDocument, readDocument } from '../../../src/kubernetes/manifests/index.ts';
import { limitWork, sized } from '../../support/work.ts';

function objects(text: string, firstLine = 1) {
  const read = readDocument({ text, firstLine, form: 'yaml' });
  if ('errors' in read) {
    throw new Error(JSON.stringify(read.errors));
  }
  return read.objects;
}

const manifest = `apiVersion: v1
metadata:
  name: x
  annotations:
    example.com/key: value
spec:
  clientConfig: {service: {port: 80}}
status:
  handlers:
    - name: a
    - {name: b,
       timeoutSeconds: 5}
`;

test.each<[(string | number)[], number, number]>([
  [[], 1, 1],
  [['apiVersion'], 1, 1],
  [['metadata', 'name'], 3, 3],
  [['metadata', 'annotations', 'example.com/key'], 5, 5],
  [['metadata', 'annotations', 'example.com/other'], 4, 3],
  [['spec', 'clientConfig', 'service', 'port'], 7, 28],
  [['spec', 'clientConfig', 'service', 'name'], 7, 18],
  [['spec', 'namespaceSelector'], 6, 1],
  [['status', 'handlers', 0], 10, 7],
  [['status', 'handlers', 1, 'timeoutSeconds'], 12, 8],
  [['status', 'handlers', 7, 'name'], 9, 3],
  [['nothing', 'of', 'this'], 1, 1],
])('%j is at %i:%i', (path, line, column) => {
  expect(objects(manifest)[0]?.placeOf(path)).toEqual({ line, column });
  expect(objects(manifest, 101)[0]?.placeOf(path)).toEqual({ line: line + 100, column });
});

test('a byte order mark is not a column', () => {
  const [object] = objects('\ufeffa: 1\nb: 2\n');
  expect(object?.placeOf(['a'])).toEqual({ line: 1, column: 1 });
  expect(object?.placeOf(['b'])).toEqual({ line: 2, column: 1 });
});

test('a field of a missing one is where their parent is, even if it has the name of a field elsewhere', () => {
  expect(objects(manifest)[0]?.placeOf(['metadata', 'labels', 'spec'])).toEqual({ line: 2, column: 1 });
});

test('a field that an alias or a merge brings is where that is written', () => {
  const [object] = objects('base: &base\n  name: a\nmetadata: *base\nspec:\n  <<: *base\n  other: b\n');
  expect(object?.object).toMatchObject({ metadata: { name: 'a' }, spec: { name: 'a', other: 'b' } });
  expect(object?.placeOf(['metadata', 'name'])).toEqual({ line: 3, column: 1 });
  expect(object?.placeOf(['spec', 'name'])).toEqual({ line: 4, column: 1 });
});

test.each<[string, unknown]>([
  ['yes', true],
  ['off', false],
  ['2026-11-20', '2026-11-20'],
  ['12:30:45', '12:30:45'],
  ['010', 8],
  ['"yes"', 'yes'],
  ['~', null],
])('a scalar %s is read as kubectl reads it', (text, value) => {
  expect(objects(`a: ${text}\n`)[0]?.object.a).toEqual(value);
});

test('finds items of lists, and of lists in lists', () => {
  const found = objects(`kind: List
items:
- kind: A
- kind: BList
  apiVersion: v1
  items:
  - metadata: {name: x}
- 7
`);
  expect(found.map(({ object }) => object)).toEqual([
    { kind: 'A' },
    { apiVersion: 'v1', kind: 'B', metadata: { name: 'x' } },
  ]);
  expect(found[1]?.placeOf(['metadata', 'name'])).toEqual({ line: 7, column: 16 });
});

test.each<[string, string, object[]]>([
  [
    'null',
    'apiVersion: v1\nkind: List\nitems:\n- kind: A\n- null\n- 7\n',
    [{ line: 5, column: 3, at: 1, got: 'null' }],
  ],
  ['text', 'apiVersion: v1\nkind: ConfigMapList\nitems: [x]\n', [{ line: 3, column: 9, at: 0, got: '"x"' }]],
  [
    'null in a list of a list',
    'apiVersion: v1\nkind: List\nitems:\n- 1\n- apiVersion: v1\n  kind: List\n  items:\n  - []\n',
    [
      { line: 4, column: 3, at: 0, got: '1' },
      { line: 8, column: 5, at: 0, got: 'an array' },
    ],
  ],
  ['a list that is not a Kubernetes List', 'kind: WordList\nitems: [a, b]\n', []],
  ['an object', 'apiVersion: v1\nkind: List\nitems: [{}]\n', []],
])('a list with %s is refused as kubectl refuses it', (_, text, places) => {
  const read = readDocument({ text, firstLine: 1, form: 'yaml' }) as ReadDocument;
  expect(read.refusals).toEqual(
    (places as { line: number; column: number; at: number; got: string }[]).map(({ line, column, at, got }) => ({
      line,
      column,
      message: `items[${at}] of a list must be an object, got ${got}: remove the item, because kubectl refuses the whole list`,
    })),
  );
});

test.each(['apiVersion: v1\nkind: List\n', 'apiVersion: v1\nkind: List\nitems: 5\n'])('%j is refused, too', (text) => {
  const read = readDocument({ text, firstLine: 1, form: 'yaml' }) as ReadDocument;
  expect(read.refusals.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^items of a List must be a list of objects, got /),
  ]);
});

test('a key named __proto__ is an ordinary one', () => {
  const [object] = objects('{"__proto__": {"kind": "x"}, "a": 1}');
  expect(Object.keys(object?.object ?? {})).toEqual(['__proto__', 'a']);
  expect(object?.object.kind).toBeUndefined();
});

test.each<[string, string]>(
  ['', 'null', '7', '[1]', '"text"', '# nothing'].map((text) => [text, text]),
)('%j contains no object', (text) => {
  expect(objects(text)).toEqual([]);
});

const bomb = `w: &w [x,x,x,x,x,x,x,x,x,x]
a: &a [*w,*w,*w,*w,*w,*w,*w,*w,*w,*w]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]
`;

test.each<[string, string, number, number, RegExp]>([
  ['a duplicate key', 'a: 1\nb: 2\na: 3\n', 13, 1, /duplicate key/],
  ['a duplicate key in JSON', '{"a": 1,\n "a": 2}', 12, 2, /duplicate key/],
  ['an open bracket', 'a: [1,\n', 12, 1, /YAML/],
  ['a tab as indentation', 'a:\n\tb: 1\n', 12, 1, /[Tt]ab/],
  ['an alias without anchor', 'a: 1\nb: *c\n', 12, 4, /alias/],
  ['an alias bomb', bomb, 16, 14, /too much of the document comes from aliases/],
  [
    'aliases that nest too deep',
    `a: &a ${'['.repeat(200)}${']'.repeat(200)}\nb: ${'['.repeat(200)}*a${']'.repeat(200)}`,
    11,
    1,
    /nests deeper/,
  ],
  ['a value with %', 'a: %40s\n', 11, 4, /cannot start with directive indicator character %/],
  ['a directive', '# c\n%YAML 1.2\n', 12, 1, /kubectl does not read directives \(%YAML, %TAG\); remove the line/],
  ['a control character', 'a: 1\nb: "\u0007"', 12, 5, /control character U\+0007/],
  ['not a number', 'a: .nan', 11, 4, /.nan is not a JSON number; put it in quotes/],
  ['a key that is null', 'a:\n  ~: 1', 12, 3, /the key null is not text; put it in quotes/],
  ['a key that is null, with an anchor', 'a:\n  &b : 1', 12, 6, /the key null is not text; put it in quotes/],
  ['an alias of null as a key', 'a: &b\nc:\n  *b : 1', 13, 3, /the key null is not text; put it in quotes/],
  ['a key that is a list', '? [a]\n: 1', 11, 3, /a key must be text, not a map or a list/],
  ['an alias that contains itself', 'a: &a\n  b: *a\n', 12, 6, /contains itself/],
  ['an alias that contains itself twice', 'a: &a [*a, *a]\n', 11, 8, /contains itself/],
  ['too many levels', `${'['.repeat(300)}${']'.repeat(300)}`, 11, 257, /nests deeper/],
])('%s is an error with its position', (_, text, line, column, message) => {
  const read = readDocument({ text, firstLine: 11, form: 'yaml' });
  const first = 'errors' in read ? read.errors[0] : undefined;
  expect(first).toMatchObject({ line, column });
  expect(first?.message).toMatch(message);
  expect('errors' in read && read.errors.length).toBeLessThanOrEqual(5);
});

test.each(['? ', '{a: '])('levels of %j without end are one error', (level) => {
  using _work = limitWork(5_000);
  const read = readDocument({ text: level.repeat(sized(50_000)), firstLine: 1, form: 'yaml' });
  expect('errors' in read && read.errors).toHaveLength(1);
});

test('lone surrogates in JSON are replaced, in keys too, and what looks like one is not', () => {
  const text = String.raw`{"a\uD800": "\\ud800 \udc00x \ud83d\ude00 \uDBFF\\\udfff\u0007"}`;
  const read = readDocument({ text, firstLine: 1, form: 'json' });
  expect('value' in read && read.value).toEqual({ 'a\ufffd': '\\ud800 \ufffdx \u{1f600} \ufffd\\\ufffd\u0007' });
});

test('JSON errors have positions, and so do fields', () => {
  const text = '{"a": 1,\n "b": {"c": [1, {"d": true}]}}';
  const read = readDocument({ text, firstLine: 3, form: 'json' });
  expect('objects' in read && read.objects[0]?.placeOf(['b', 'c', 1, 'd'])).toEqual({ line: 4, column: 18 });
  expect(readDocument({ text: `${text.slice(0, -1)} x}`, firstLine: 3, form: 'json' })).toEqual({
    errors: [{ line: 4, column: 31, message: expect.stringMatching(/^JSON: Expected .* begins with "\{" as JSON/) }],
  });
});

test('of duplicate keys in JSON the last one counts, as for kubectl', () => {
  const read = readDocument({ text: '{"a": {"b": 1, "b": 2}}', firstLine: 1, form: 'json' });
  expect('value' in read && read.value).toEqual({ a: { b: 2 } });
});

test('the time for positions is proportional to the text, however many are looked up', () => {
  const keys = sized(15_000);
  const [object] = objects(`a:\n${Array.from({ length: keys }, (_, index) => `  k${index}: v\n`).join('')}`);
  // With one walk for each it took three seconds.
  using _work = limitWork(1_000);
  const lines = Array.from({ length: keys }, (_, index) => object?.placeOf(['a', `k${index}`]).line);
  expect(lines.findIndex((line, index) => line !== index + 2)).toBe(-1);
});

// A reader that compares each key with all previous ones takes more than ten seconds for the first, and so does a
// reader that looks for anchors from the start of the document for the last.
test.each<[string, (count: number) => string]>([
  ['keys', (count) => Array.from({ length: count }, (_, index) => `k${index}: 1`).join('\n')],
  ['keys in braces', (count) => `{${Array.from({ length: count }, (_, index) => `k${index}: 1`).join(', ')}}`],
  ['anchors', (count) => Array.from({ length: count }, (_, index) => `- &a${index} 1\n- *a${index}`).join('\n')],
])('a document with a huge number of %s is read in linear time', (_name, text) => {
  using _work = limitWork(3_000);
  expect('value' in readDocument({ text: text(sized(15_000)), firstLine: 1, form: 'yaml' })).toBe(true);
});

test.each<[string, string, RegExp]>([
  ['not YAML', 'a: [', /^line 1: /],
  ['two documents', 'a: 1\n---\nb: 2\n', /^contains more than one document$/],
  ['a duplicate key', 'a: 1\nb:\n  c: 1\n  c: 2\n', /^line 4: YAML: duplicate key "c" in a map$/],
  ['too long', '#'.repeat(101), /^is longer than 100 characters$/],
])('the only value of a text that is %s', (_name, text, message) => {
  expect(() => onlyValue(text, 100)).toThrow(message);
});
