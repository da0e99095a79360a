import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { expectLinear } from '../../support/work.ts';
import { runProgram } from './io.ts';

const root = mkdtempSync(join(tmpdir(), 'convert-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder = root;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'x-'));
});

const golden = (version: string) =>
  readFileSync(new URL(`../../extensionconfig/conversion/golden/${version}.yaml`, import.meta.url), 'utf8');

const old = `# what this is
apiVersion: "runtime.cluster.x-k8s.io/v1alpha1" # soon gone
kind: ExtensionConfig
metadata: {name:   my-ext}

spec:
    clientConfig:
      url:   'https://x.example'   # where
`;
const pod = '# a pod\napiVersion: v1\nkind: Pod\nmetadata: {name:   p}\n';
const inV1beta2 = (text: string) => text.replaceAll('x-k8s.io/v1alpha1', 'x-k8s.io/v1beta2');

const typedList = `apiVersion: runtime.cluster.x-k8s.io/v1alpha1
kind: ExtensionConfigList
items:
  - metadata: {name: a} # no version of its own
    spec: {clientConfig: {url: https://x.example}}
`;
const list = `apiVersion: v1
kind: List
items:
- apiVersion: runtime.cluster.x-k8s.io/v1alpha1
  kind: ExtensionConfig
  metadata: {name: a}
- apiVersion: v1
  kind: Pod
`;
const json =
  '{\n    "kind":"ExtensionConfig", "apiVersion":\t"runtime.cluster.x-k8s.io/v1alpha1",\n "spec": {"n":1.0} }';

describe('where only the version changes, every other byte is preserved', () => {
  test.each<[string, string]>([
    ['comments, quotes, blanks', old],
    ['several documents', `${pod}---\n${old}---\n# nothing\n---\n${old}...\n# the end\n`],
    ['CRLF', old.replaceAll('\n', '\r\n')],
    ['a byte order mark', `\ufeff${old}`],
    ['no newline at the end', old.trimEnd()],
    ['a typed list', typedList],
    ['a List', list],
    ['JSON', json],
  ])('%s', async (_name, text) => {
    const ended = await runProgram(['convert', '-'], { stdin: text });
    expect(ended).toEqual({ code: 0, stdout: inV1beta2(text), stderr: '' });
    expect((await runProgram(['convert', '--to', 'v1beta2', '-'], { stdin: ended.stdout })).stdout).toBe(ended.stdout);
    expect((await runProgram(['convert', '--to', 'v1alpha1', '-'], { stdin: ended.stdout })).stdout).toBe(text);
  });
});

test.each([
  ['v1alpha1', 'v1beta2'],
  ['v1beta2', 'v1alpha1'],
])('fields that move: %s → %s', async (from, to) => {
  const { code, stdout } = await runProgram(['convert', '--to', to, '-'], { stdin: golden(from) });
  expect(code).toBe(0);
  expect(parse(stdout)).toEqual(parse(golden(to)));
  expect(stdout.split('\n')[0]).toBe(golden(from).split('\n')[0]);
  const asJson = JSON.stringify(parse(golden(from)), null, 4);
  const converted = await runProgram(['convert', '--to', to, '-'], { stdin: asJson });
  expect(JSON.parse(converted.stdout)).toEqual(parse(golden(to)));
  expect(converted.stdout).toMatch(/^\{\n {4}"apiVersion"/);
});

test('comments of what does not move stay, and so does the indentation of lists', async () => {
  const text = `apiVersion: runtime.cluster.x-k8s.io/v1alpha1
kind: ExtensionConfig
# before the status
status:
  conditions:
  # the first
  - type: Ready # yes
    status: "True"
  handlers: []
`;
  const there = await runProgram(['convert', '-'], { stdin: text });
  expect(there.stdout).toBe(`apiVersion: runtime.cluster.x-k8s.io/v1beta2
kind: ExtensionConfig
# before the status
status:
  handlers: []
  deprecated:
    v1beta1:
      conditions:
      - type: Ready
        status: "True"
`);
});

test.each([
  ['four spaces', 4, ''],
  ['eight, and a byte order mark', 8, '\ufeff'],
])('lines that do not change keep their indentation of %s', async (_, indent, mark) => {
  const step = ' '.repeat(indent);
  const text = `${mark}apiVersion: runtime.cluster.x-k8s.io/v1alpha1
kind: ExtensionConfig
metadata:
${step}labels:
${step}${step}# a label
${step}${step}a: b
status:
${step}conditions: []
`;
  const { stdout } = await runProgram(['convert', '-'], { stdin: text });
  expect(stdout).toBe(
    `${text.replace('v1alpha1', 'v1beta2').replace(/conditions.*/s, '')}deprecated:
${step}${step}v1beta1:
${step}${step}${step}conditions: []
`,
  );
});

test('without --write several files become one stream', async () => {
  writeFileSync(join(folder, 'a.yaml'), old.trimEnd());
  writeFileSync(join(folder, 'b.yaml'), pod);
  writeFileSync(join(folder, 'c.yaml'), `---\n${pod}`);
  const { stdout } = await runProgram(['convert', folder]);
  expect(stdout).toBe(`${inV1beta2(old).trimEnd()}\n---\n${pod}---\n${pod}`);
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toBe(old.trimEnd());
});

test('--write changes files in place, preserves their mode and links, and leaves nothing behind', async () => {
  const [a, b, link] = ['a.yaml', 'b.yaml', 'link.yml'].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(a, old);
  chmodSync(a, 0o640);
  writeFileSync(b, pod);
  symlinkSync(a, link);
  const before = statSync(b).mtimeMs;
  const ended = await runProgram(['convert', '--write', link, b]);
  expect(ended).toEqual({ code: 0, stdout: '', stderr: `${link}: 1 ExtensionConfig converted to v1beta2\n` });
  expect(readFileSync(a, 'utf8')).toBe(inV1beta2(old));
  expect(statSync(a).mode & 0o777).toBe(0o640);
  expect(statSync(b).mtimeMs).toBe(before);
  expect(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry.isSymbolicLink()])).toEqual([
    ['a.yaml', false],
    ['b.yaml', false],
    ['link.yml', true],
  ]);
  expect(await runProgram(['convert', '--write', folder])).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe('an object that cannot be converted is reported with file, line and field, and its file is unchanged', () => {
  test.each<[string, string, number, RegExp]>([
    [
      'an unknown version',
      old.replace('v1alpha1', 'v7'),
      1,
      /x.yaml:2:1: apiVersion: cannot convert "runtime.*v7"; the/,
    ],
    ['no version', 'kind: ExtensionConfig\n', 1, /apiVersion: cannot convert none/],
    [
      'a version that is not a string',
      'apiVersion: {toString: {}}\nkind: ExtensionConfig\n',
      1,
      /cannot convert an object/,
    ],
    ['invalid YAML', 'a: [\n', 2, /x.yaml:\d+:\d+: YAML: /],
    ['invalid UTF-8', '\ufffd', 2, /x.yaml: is not valid UTF-8/],
    [
      'an anchor',
      'a: &v runtime.cluster.x-k8s.io/v1alpha1\napiVersion: *v\nkind: ExtensionConfig\n',
      0,
      /1 ExtensionConfig converted/,
    ],
    [
      'an alias in the path',
      'x: &s {conditions: [{type: A}]}\napiVersion: runtime.cluster.x-k8s.io/v1alpha1\nkind: ExtensionConfig\nstatus: *s\n',
      1,
      /status is an alias \(\*s\); write its value there/,
    ],
  ])('%s', async (_name, text, code, message) => {
    const file = join(folder, 'x.yaml');
    const content = Buffer.from(text);
    writeFileSync(file, text === '\ufffd' ? Buffer.from([0xff]) : content);
    const before = readFileSync(file);
    const ended = await runProgram(['convert', '--write', file]);
    expect(ended.stderr).toMatch(message);
    expect(ended.code).toBe(code);
    if (code !== 0) {
      expect(readFileSync(file)).toEqual(before);
    }
  });

  test('one of several documents', async () => {
    const file = join(folder, 'x.yaml');
    const text = `${old}---\n${old.replace('v1alpha1', 'v7')}`;
    writeFileSync(file, text);
    expect(await runProgram(['convert', '--write', file])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/x.yaml:11:1: apiVersion/),
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

test.each<[string[], RegExp]>([
  [[], /name files or folders to convert/],
  [['-', '--to', 'v1beta1'], /--to: "v1beta1" is not allowed: it must be one of v1beta2, v1alpha1/],
  [['-', '--write'], /standard input is not a file/],
  [['/does/not/exist'], /\/does\/not\/exist: cannot be read: no such file/],
])('usage error: %j', async (args, message) => {
  expect(await runProgram(['convert', ...args])).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
});

test('lint reports an apiVersion that is not a string', async () => {
  const { code, stdout } = await runProgram(['lint', '-'], {
    stdin: 'apiVersion: {toString: {}}\nkind: ExtensionConfig\n',
  });
  expect(code).toBe(1);
  expect(stdout).toContain('api-version-unknown');
});

test('lint refers to convert', async () => {
  const { stdout } = await runProgram(['lint', '-'], { stdin: old });
  expect(stdout).toMatch(/To rewrite files in .*v1beta2: extensionconfig-webhook convert --to v1beta2 --write PATH\n$/);
  expect((await runProgram(['lint', '-'], { stdin: inV1beta2(old) })).stdout).not.toContain('convert');
});

describe('--check', () => {
  test('prints changes as a diff, and changes nothing', async () => {
    const file = join(folder, 'x.yaml');
    const text = `${pod}---\n${old}---\n${pod}---\n${old}`;
    writeFileSync(file, text);
    const { code, stdout, stderr } = await runProgram(['convert', '--check', '-f', file]);
    expect([code, stderr]).toEqual([1, '']);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(stdout.match(/^@@.*$/gm)).toEqual(['@@ -4,7 +4,7 @@', '@@ -18,7 +18,7 @@']);
    expect(stdout).toContain(`--- a/${file}\n+++ b/${file}\n`);
    expect(applyPatch(text, stdout)).toBe(inV1beta2(text));
  });

  test.each([
    ['fields that move', golden('v1alpha1')],
    ['JSON', `${json}\n${json}`],
    ['no newline at the end', old.trimEnd()],
    ['two objects with fields that move', `${golden('v1alpha1')}---\n${golden('v1alpha1')}`],
  ])('prints the diff of what convert does: %s', async (_, text) => {
    const file = join(folder, 'x.yaml');
    writeFileSync(file, text);
    const { stdout } = await runProgram(['convert', '--check', file]);
    expect(applyPatch(text, stdout)).toBe((await runProgram(['convert', file])).stdout);
  });

  test('succeeds if everything is in the requested version', async () => {
    expect(await runProgram(['convert', '--check', '-'], { stdin: inV1beta2(old) })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('cannot be combined with --write', async () => {
    const { code, stderr } = await runProgram(['convert', '--check', '--write', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('leave one out')]);
  });
});

test('--quiet does not report written files', async () => {
  const file = join(folder, 'x.yaml');
  writeFileSync(file, old);
  expect(await runProgram(['convert', '--write', '--quiet', file])).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(file, 'utf8')).toBe(inV1beta2(old));
});

test('a string that some parsers read as another type is unchanged', async () => {
  const text = golden('v1alpha1').replace(
    /^metadata:\n/m,
    'metadata:\n  labels: {a: e1, b: "08", c: 12:30:45, "yes": "no"}\n',
  );
  const { code, stdout } = await runProgram(['convert', '-'], { stdin: text });
  expect(code).toBe(0);
  expect(stdout).toContain('{a: e1, b: "08", c: 12:30:45, "yes": "no"}');
});

test('a time that moves remains in quotes, because some parsers do not read it as a string without them', async () => {
  const condition = '\n  - {type: Ready, lastTransitionTime: "2026-01-01T00:00:00Z"}\n';
  const text = `${inV1beta2(old)}status:\n  conditions: []\n  deprecated: {v1beta1: {conditions: [{type: Ready}]}}\n`;
  const two = text.replace(' []\n', condition);
  const { stdout } = await runProgram(['convert', '--to', 'v1alpha1', '-'], { stdin: two });
  expect(stdout).toContain('lastTransitionTime: "2026-01-01T00:00:00Z"');
});

test.each<[string, (count: number) => string, number]>([
  ['documents', (n) => `${inV1beta2(old)}---\n${old}---\n`.repeat(n), 800],
  [
    'items of a List',
    (n) =>
      `kind: List\nitems:\n${old
        .replace(/^(?=.)/gm, '  ')
        .replace('  # what this is\n  api', '- api')
        .repeat(n)}`,
    800,
  ],
  [
    'siblings of a key',
    (n) => `${golden('v1alpha1')}\nother:\n${Array.from({ length: n }, (_, i) => `  k${i}: v\n`).join('')}`,
    8_000,
  ],
])('the time for %s is proportional to their number', async (_, text, size) => {
  await expectLinear(size, async (count) => {
    expect((await runProgram(['convert', '-'], { stdin: text(count) })).code).toBe(0);
  });
});
