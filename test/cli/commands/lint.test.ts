import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { expectLinear, limitWork, sized } from '../../support/work.ts';
import { runProgram } from './io.ts';

const folder = mkdtempSync(join(tmpdir(), 'lint-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string | Buffer): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function manifest(name: string, spec = 'clientConfig: {url: "https://extensions.example.com"}'): string {
  return `apiVersion: runtime.cluster.x-k8s.io/v1beta2
kind: ExtensionConfig
metadata:
  name: ${name}
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: a/b}
spec:
  ${spec}
`;
}

const good = manifest('good');
const bad = manifest('bad', 'clientConfig: {url: "http://extensions.example.com"}');
const warned = manifest('warned', 'clientConfig: {url: "https://127.0.0.1"}');

const samples = fileURLToPath(new URL('../../../manifests/samples/', import.meta.url));

test.each(
  readdirSync(samples).filter((name) => name.startsWith('good-')),
)('the good sample %s has no findings', async (name) => {
  const { code, stdout } = await runProgram(['lint', '--output', 'json', join(samples, name)]);
  const { findings, summary } = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(summary.objects).toBe(1);
  expect(findings.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual(
    name.includes('v1alpha1') ? ['api-version-deprecated'] : [],
  );
});

const families: Record<string, string[]> = {
  'bad-name.yaml': ['name-dns-label', 'service-namespace', 'service-name'],
  'bad-target.yaml': ['client-config-target', 'service-port', 'service-path', 'service-path-plain'],
  'bad-url.yaml': ['url-user-info', 'url-query', 'url-port', 'url-valid'],
  'bad-ca.yaml': [
    'ca-certificate-expired',
    'ca-bundle-private-key',
    'ca-bundle-pem',
    'inject-annotation',
    'ca-missing',
  ],
  'bad-selector.yaml': ['namespace-selector', 'namespace-selector-contradiction'],
  'bad-handlers.yaml': [
    'handler-timeout',
    'failure-policy-blocking',
    'handler-name-unique',
    'hook-unknown',
    'handler-failure-policy',
    'handler-name',
    'handler-hook-version',
  ],
  'bad-settings.yaml': ['settings-credentials'],
  'bad-fields.yaml': ['field-type', 'unknown-field', 'api-version-unknown'],
};

test.each(
  readdirSync(samples).filter((name) => name.startsWith('bad-')),
)('the bad sample %s has its finding', async (name) => {
  const { stdout } = await runProgram(['lint', '--output', 'json', join(samples, name)]);
  const found = new Set(JSON.parse(stdout).findings.map(({ ruleId }: { ruleId: string }) => ruleId));
  expect([...found]).toEqual(families[name]);
  expect(stdout).not.toMatch(/password@|PRIVATE KEY-----|c2VjcmV0|extension:secret/);
});

test.each<[string, string, string[], number]>([
  ['a valid object', good, [], 0],
  ['an invalid object', bad, [], 1],
  ['a warning', warned, [], 0],
  ['more warnings than allowed', warned, ['--max-warnings', '0'], 1],
  ['as many warnings as allowed', warned, ['--max-warnings', '1'], 0],
  ['other kinds', 'kind: ConfigMap\napiVersion: v1\n', [], 2],
  ['other kinds with --allow-empty', 'kind: ConfigMap\napiVersion: v1\n', ['--allow-empty'], 0],
  ['an empty input', '', [], 2],
  ['an empty input with --allow-empty', '', ['--allow-empty'], 0],
  ['the same kind of another group', 'kind: ExtensionConfig\napiVersion: cluster.x-k8s.io/v1beta2\n', [], 1],
  ['no apiVersion', 'kind: ExtensionConfig\n', [], 1],
  [
    'an invalid item of a List',
    `{"kind":"List","apiVersion":"v1","items":[{"kind":"ExtensionConfig","apiVersion":"runtime.cluster.x-k8s.io/v1beta2"}]}`,
    [],
    1,
  ],
  ['a YAML error', `${bad}---\na: [\n`, [], 2],
  ['the upstream profile', manifest('x', 'clientConfig: {url: "https://h?q"}'), ['--profile', 'upstream'], 0],
  ['enforcement warn', manifest('x', 'clientConfig: {url: "https://h?q"}'), ['--enforcement', 'warn'], 0],
])('%s from standard input: exit code', async (_, stdin, args, code) => {
  expect((await runProgram(['lint', '-', ...args], { stdin })).code).toBe(code);
});

test('a finding has file, line and column; a later syntax error does not hide it', async () => {
  const path = write('places.yaml', `${good}---\n${bad}---\na: 1\na: 2\n---\n${bad}`);
  const { code, stdout, stderr } = await runProgram(['lint', path]);
  expect(code).toBe(2);
  expect(stdout.match(/:\d+:\d+: error: /g)).toEqual([':15:18: error: ', ':26:18: error: ']);
  expect(stderr).toBe(`${path}:18:1: YAML: duplicate key "a" in a map\n`);
});

/** The findings in a manifest, as `LINE RULE`. */
async function findingsIn(stdin: string): Promise<string[]> {
  const { stdout } = await runProgram(['lint', '--output', 'json', '-'], { stdin });
  return JSON.parse(stdout).findings.map(({ line, ruleId }: { line: number; ruleId: string }) => `${line} ${ruleId}`);
}

test('findings are in the order of lines, whatever the order of fields', async () => {
  const text = `spec:
  namespaceSelector: {matchLabels: {a: '-'}}
  clientConfig: {url: 'http://a'}
metadata:
  namespace: a
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: a/b}
  name: A
kind: ExtensionConfig
apiVersion: runtime.cluster.x-k8s.io/v1beta2
`;
  expect(await findingsIn(text)).toEqual([
    '2 namespace-selector',
    '3 url-valid',
    '5 metadata-namespace',
    '7 name-dns-label',
  ]);
});

test.each<[string, string, string[]]>([
  ['no spec', '', ['1 client-config-target']],
  ['an empty url', "spec: {clientConfig: {url: ''}}", ['6 client-config-target']],
  [
    'a Service without a namespace',
    "spec: {clientConfig: {service: {name: a, namespace: ''}}}",
    ['6 service-namespace'],
  ],
  ['an empty caBundle', "spec: {clientConfig: {url: 'https://a', caBundle: ''}}", ['6 schema-limits']],
  [
    'no url, and a caBundle that is none',
    "spec: {clientConfig: {caBundle: 'x y'}}",
    ['6 client-config-target', '6 ca-bundle-pem', '6 ca-bundle-and-annotation'],
  ],
  [
    'a variable',
    `spec: {clientConfig: {service: {name: "\${A}", namespace: "{{ .B }}", port: "\${C}"}}}`,
    ['6 not-rendered'],
  ],
])('one mistake is one finding: %s', async (_, spec, expected) => {
  expect(await findingsIn(manifest('one').replace(/spec:.*/s, spec))).toEqual(expected);
});

test.each([
  'text',
  'github',
])('a file whose name is a command to the runner of a workflow begins with ./ (%s)', async (output) => {
  const cwd = process.cwd();
  mkdirSync(join(folder, 'runner'));
  process.chdir(join(folder, 'runner'));
  try {
    write('runner/::stop-commands::x.yaml', `${bad}---\na: [\n`);
    const { stdout, stderr } = await runProgram(['lint', '--output', output, '.', '::stop-commands::x.yaml']);
    expect(stderr).toMatch(/^\.\/::stop-commands::x\.yaml:\d+:\d+: YAML: /);
    expect(stdout).toMatch(output === 'text' ? /^\.\/::stop/ : /^::error file=%3A%3Astop-commands%3A%3Ax\.yaml,/);
  } finally {
    process.chdir(cwd);
    rmSync(join(folder, 'runner'), { recursive: true });
  }
});

test.each<[string, Buffer, number, RegExp]>([
  ['little endian', Buffer.from(`\ufeff${bad}`, 'utf16le'), 1, /^$/],
  ['big endian', Buffer.from(`\ufeff${bad}`, 'utf16le').swap16(), 1, /^$/],
  ['without a byte order mark', Buffer.from(bad, 'utf16le'), 2, /the control character U\+0000 is not allowed/],
  ['broken', Buffer.from('\ufeffa\ud800', 'utf16le'), 2, /is not valid UTF-16.*: save it as UTF-8/],
])('a file in UTF-16 is read as by kubectl: %s', async (_, bytes, code, message) => {
  const result = await runProgram(['lint', write('utf-16.yaml', bytes)]);
  expect(result.code).toBe(code);
  expect(result.stderr).toMatch(message);
  expect(result.stdout).toMatch(code === 1 ? /utf-16\.yaml:7:18: error: .*url-valid/ : /^0 ExtensionConfigs/);
});

test.each<[string, Record<string, string>, string[]]>([
  ['in a file', { 'a.yaml': `${good}---\n${good}` }, ['a.yaml:1']],
  ['in a folder', { 'a.yaml': good, 'b.yaml': good, 'c.yaml': warned }, ['a.yaml:1']],
  ['in two folders', { 'a/x.yaml': good, 'b/x.yaml': good }, []],
  ['in a folder that kustomize composes', { 'a.yaml': good, 'b.yaml': good, 'kustomization.yaml': 'kind: K\n' }, []],
])('the same name twice %s', async (name, files, namesakes) => {
  const root = `twice ${name}`;
  for (const [file, text] of Object.entries(files)) {
    write(`${root}/${file}`, text);
  }
  const { stdout } = await runProgram(['lint', '--output', 'json', join(folder, root)]);
  const messages: string[] = JSON.parse(stdout)
    .findings.filter(({ ruleId }: { ruleId: string }) => ruleId === 'name-repeated')
    .map(({ message }: { message: string }) => message);
  expect(messages).toEqual(
    namesakes.map((place) =>
      expect.stringContaining(`the name of the ExtensionConfig in ${join(folder, root, place)}: `),
    ),
  );
});

test('all mistakes in a configuration are reported at once', async () => {
  const path = write('mistakes/a.yaml', good);
  const config = write(
    'mistakes/.extensionconfig-lint.yaml',
    'profile: x\nunknown: 1\nrules: {nothing: off, url-valid: off}\n',
  );
  const { code, stderr } = await runProgram(['lint', path]);
  expect(code).toBe(2);
  expect(
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(line.indexOf(config))),
  ).toEqual([
    expect.stringMatching(/yaml: profile: "x" is not allowed: /),
    expect.stringMatching(/yaml: unknown: unknown field; /),
    expect.stringMatching(/yaml: rules: there is no rule "nothing"; /),
    expect.stringMatching(/yaml: rules\.url-valid: Cluster API itself rejects this/),
  ]);
});

const off = (rule: string, reason = 'as agreed') => `# extensionconfig-lint: off ${rule} ${reason}`;

test.each<[string, string, string[]]>([
  ['at the end of its line', `  clientConfig: {url: "https://127.0.0.1"} ${off('url-local-host')}`, []],
  [
    'in the line above',
    `  ${off('url-local-host')}\n  # and a comment\n\n  clientConfig: {url: "https://127.0.0.1"}`,
    [],
  ],
  ['of another rule', `  clientConfig: {url: "https://127.0.0.1"} ${off('url-query')}`, ['7 url-local-host']],
  [
    'two lines above',
    `  ${off('url-local-host')}\n  settings: {}\n  clientConfig: {url: "https://127.0.0.1"}`,
    ['9 url-local-host'],
  ],
  [
    'in a text',
    `  clientConfig: {url: "https://127.0.0.1"}\n  settings: {a: "x${off('url-local-host')}"}`,
    ['7 url-local-host'],
  ],
])('a comment turns off a rule %s', async (_, spec, expected) => {
  expect(await findingsIn(manifest('x').replace(/spec:.*/s, `spec:\n${spec}\n`))).toEqual(expected);
});

test('a comment above an object turns off a rule for all of it, and for no other', async () => {
  const text = `# licence\n${off('url-local-host')}\n${warned}---\n${warned.replace('warned', 'again')}`;
  expect(await findingsIn(text)).toEqual(['17 url-local-host']);
});

test.each([
  ['no reason', '# extensionconfig-lint: off url-query', 'after url-query, write why it is turned off here'],
  ['an unknown rule', off('nothing'), 'there is no rule "nothing"'],
  [
    "one of Cluster API's own rules",
    off('url-valid'),
    'url-valid cannot be turned off: Cluster API itself rejects this',
  ],
  ['another level', '# extensionconfig-lint: warn url-query x', 'write "# extensionconfig-lint: off RULE reason"'],
])('a comment to the linter with %s is an error', async (_, comment, message) => {
  const { code, stderr } = await runProgram(['lint', '-'], { stdin: `${good}${comment}\n` });
  expect(code).toBe(2);
  expect(stderr).toContain(`<stdin>:8:1: ${message}`);
});

test('comments that turn off nothing are named', async () => {
  const { code, stderr } = await runProgram(['lint', '-'], { stdin: `${off('url-query')}\n${good}` });
  expect([code, stderr]).toEqual([
    0,
    'lint: comments turn off rules that report nothing there: url-query in <stdin>:1\n',
  ]);
});

test.each([
  ['b', 0],
  ['other', 1],
])('a Certificate in the file that is stored in Secret %s', async (secretName, count) => {
  const text = `${manifest('good', 'clientConfig: {service: {namespace: a, name: x}}')}---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {namespace: a, name: x}
spec: {secretName: ${secretName}, dnsNames: [x.a.svc]}
`;
  const { code, stdout } = await runProgram(['lint', '--quiet', '--max-warnings=0', write(`${secretName}.yaml`, text)]);
  const all = await runProgram(['lint', write(`${secretName}.yaml`, text)]);
  expect([code, stdout, all.stdout.split('(certificate-secret)').length - 1]).toEqual([count, '', count]);
});

test('patches of a kustomization, which are parts of objects, are skipped with a line', async () => {
  write('kustomized/kustomization.yaml', 'resources: [a.yaml]\npatches: [{path: patches/b.yaml}]\n');
  write('kustomized/a.yaml', good);
  const patch = write('kustomized/patches/b.yaml', 'spec: {settings: {a: b}}\nkind: ExtensionConfig\n');
  const { code, stdout, stderr } = await runProgram(['lint', join(folder, 'kustomized')]);
  expect(stderr).toContain(`lint: skipped 1 file with patches of a kustomization: ${patch}\n`);
  expect(stdout).toBe('1 ExtensionConfig in 3 files: 0 errors, 0 warnings\n');
  expect(code).toBe(0);
});

test('files that match a pattern of the configuration are left out', async () => {
  write('ignoring/.extensionconfig-lint.yaml', 'ignore: ["charts/**", "*.tmpl.yaml"]\n');
  write('ignoring/a.yaml', good);
  write('ignoring/charts/x/b.yaml', bad);
  write('ignoring/c.tmpl.yaml', bad);
  expect(await runProgram(['lint', join(folder, 'ignoring')])).toMatchObject({ code: 0, stderr: '' });
  write('ignoring/.extensionconfig-lint.yaml', 'ignore: charts\n');
  const { code, stderr } = await runProgram(['lint', join(folder, 'ignoring')]);
  expect(stderr).toContain('ignore: must be a list of patterns, such as "charts/**"');
  expect(code).toBe(2);
});

test('an object that is longer than an API server accepts is an error', async () => {
  const settings = Array.from({ length: 300 }, (_, i) => `    k${i}: ${'x'.repeat(11_000)}\n`).join('');
  const { code, stderr } = await runProgram(['lint', '-'], { stdin: `${good}  settings:\n${settings}` });
  expect(stderr).toMatch(/<stdin>:1:1: the object has 33\d{5} bytes as JSON, and API servers accept at most 3145728/);
  expect(code).toBe(2);
});

test('a url with several mistakes has a finding for each', async () => {
  const url = 'http://user:password@localhost/?a#b';
  const { stdout } = await runProgram(['lint', '-'], { stdin: manifest('a', `clientConfig: {url: "${url}"}`) });
  expect(stdout.match(/\(url-[a-z-]+\)/g)).toEqual(
    ['url-valid', 'url-user-info', 'url-query', 'url-fragment', 'url-local-host'].map((id) => `(${id})`),
  );
});

test('a comment below a field that --fix removes, or fills, stays', async () => {
  const text = manifest('my-a').replace('metadata:', 'metadata:\n  namespace: x\n  # about the name');
  const path = write('fix-comments/a.yaml', `${text}  namespaceSelector:\n    # all of them\n`);
  await runProgram(['lint', '--fix', path]);
  const fixed = readFileSync(path, 'utf8');
  expect(fixed).toContain('# about the name');
  expect(fixed).toContain('namespaceSelector: {} # all of them');
});

test('--fix changes what has one right answer, keeps comments, and reports the rest', async () => {
  const path = write(
    'fix/a.yaml',
    `# first
apiVersion: runtime.cluster.x-k8s.io/v1alpha1 # old
kind: ExtensionConfig
metadata:
  name: a
  namespace: default
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: a/b}
spec:
  clientConfig:
    service:
      name: A
      namespace: b
      port: "443" # quoted
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
`,
  );
  const first = await runProgram(['lint', '--fix', path]);
  expect(first.code).toBe(1);
  expect(first.stderr).toBe(`${path}: 1 ExtensionConfig fixed\n`);
  expect(first.stdout.match(/\(\S+\)$/gm)).toEqual(['(service-name)']);
  expect(readFileSync(path, 'utf8')).toBe(`# first
apiVersion: runtime.cluster.x-k8s.io/v1beta2 # old
kind: ExtensionConfig
metadata:
  name: a
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: a/b}
spec:
  clientConfig:
    service:
      name: A
      namespace: b
      port: 443 # quoted
  namespaceSelector: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
`);
  const second = await runProgram(['lint', '--fix', path]);
  expect([second.stderr, second.stdout]).toEqual(['', first.stdout]);
});

test('--fix leaves what a comment turns off', async () => {
  const text = `# extensionconfig-lint: off api-version-deprecated the old release reads it, too
apiVersion: runtime.cluster.x-k8s.io/v1alpha1
kind: ExtensionConfig
metadata:
  name: a
  namespace: default # extensionconfig-lint: off metadata-namespace another tool needs it
  annotations: {runtime.cluster.x-k8s.io/inject-ca-from-secret: a/b}
spec:
  clientConfig:
    service:
      name: a
      namespace: b
      port: 443
  namespaceSelector: {}
`;
  const path = write('fix/off.yaml', text);
  expect(await runProgram(['lint', '--fix', path])).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test('--fix cannot change standard input', async () => {
  expect(await runProgram(['lint', '--fix', '-'], { stdin: good })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('standard input is not a file'),
  });
});

test('a file is checked once, however often it is named', async () => {
  const path = write('once/a.yaml', bad);
  symlinkSync(path, join(folder, 'once/b.yaml'));
  const { stdout } = await runProgram([
    'lint',
    path,
    join(folder, 'once'),
    join(folder, 'once/../once/a.yaml'),
    '-f',
    path,
  ]);
  expect(stdout).toContain('1 ExtensionConfig in 1 file: 1 error');
});

test('an empty path is an error with a remedy', async () => {
  expect(await runProgram(['lint', ''])).toMatchObject({
    code: 2,
    stderr: '"": names no file: write "." for this folder\n',
  });
});

test('findings in JSON and SARIF say where their field begins and ends', async () => {
  const text = `apiVersion: runtime.cluster.x-k8s.io/v1beta2
kind: ExtensionConfig
metadata:
  name: "my_ext" # here
spec:
  clientConfig:
    url: https://127.0.0.1
    service: {}

  settings:
    password: |
      hunter2
      hunter3
  namespaceSelector: {}
`;
  const [json, sarif] = await Promise.all(
    ['json', 'sarif'].map((output) => runProgram(['lint', '-o', output, '-'], { stdin: text })),
  );
  const ranges = JSON.parse(json?.stdout ?? '').findings.map(
    ({ ruleId, line, column, endLine, endColumn }: Record<string, unknown>) =>
      `${ruleId} ${line}:${column}-${endLine}:${endColumn}`,
  );
  expect(ranges).toEqual([
    'name-dns-label 4:3-4:17',
    'ca-missing 6:3-8:16',
    'url-local-host 7:5-7:27',
    'schema-limits 8:5-8:16',
    'schema-limits 8:5-8:16',
    'settings-credentials 11:5-13:14',
  ]);
  const [first] = JSON.parse(sarif?.stdout ?? '').runs[0].results;
  expect(first.locations[0].physicalLocation.region).toEqual({
    startLine: 4,
    startColumn: 3,
    endLine: 4,
    endColumn: 17,
  });
});

test('a null item of a List is an error, as in kubectl, and the others are checked', async () => {
  const items = bad.trimEnd().replaceAll('\n', '\n  ');
  const path = write('null-item.yaml', `apiVersion: v1\nkind: List\nitems:\n- null\n- ${items}\n`);
  const { code, stdout, stderr } = await runProgram(['lint', path]);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `${path}:4:3: items[0] of a list must be an object, got null: remove the item, because kubectl refuses the whole list\n`,
  );
  expect(stdout).toContain('1 ExtensionConfig in 1 file');
});

const configMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const kindless = 'apiVersion: runtime.cluster.x-k8s.io/v1beta2\nmetadata: {name: a}\n';
const nested = (levels: number): JsonObject => ({
  apiVersion: 'v1',
  kind: 'List',
  items: [levels > 1 ? nested(levels - 1) : (parse(bad) as JsonObject)],
});

test.each<[string, string, string[]]>([
  [
    'a document without a kind after an object',
    `${good}---\n# A comment\n\na: 1\n`,
    ['11:1: kind is missing, so kubectl'],
  ],
  ['before one', `a: 1\n---\n${configMap}---\n${good}`, ['1:1: kind is missing, so kubectl']],
  ['an empty kind', `${good}---\napiVersion: v1\nkind: ""\n`, ['9:1: kind is missing']],
  ['a kind that is not text', `${good}---\napiVersion: v1\nkind: 3\n`, ['9:1: kind is missing']],
  ['an empty object', `${good}---\n{}\n`, ['9:1: kind is missing']],
  ['plain text', `${good}---\ntext\n`, ['9:1: this document is "text", not an object']],
  ['a list', `${good}---\n[a]\n`, ['9:1: this document is an array, not an object']],
  ['an item of a List', 'apiVersion: v1\nkind: List\nitems:\n- a: 1\n', ['4:3: kind is missing']],
  [
    'an ExtensionConfig without its kind',
    kindless,
    ['1:1: kind is missing beside apiVersion "runtime.cluster.x-k8s.io/v1beta2": write kind: ExtensionConfig'],
  ],
  [
    'with a misspelt kind',
    `${kindless}kind: Extensionconfig\n`,
    ['3:1: "runtime.cluster.x-k8s.io/v1beta2" has no kind "Extensionconfig": write kind: ExtensionConfig'],
  ],
  ['Lists in six Lists', stringify(nested(6)), ['Lists nest deeper than 5 levels']],
])('what kubectl refuses for its kind is an error, as in kubectl: %s', async (_, stdin, expected) => {
  const { code, stdout, stderr } = await runProgram(['lint', '--allow-empty', '-'], { stdin });
  expect(stderr.match(/^<stdin>:.*$/gm)).toEqual(expected.map((text) => expect.stringContaining(text)));
  expect(stdout).toContain(', 1 read error');
  expect(code).toBe(2);
});

test.each<[string, string]>([
  ['an empty document', `${good}---\n---\n# A comment\n---\nnull\n`],
  ['an object of another kind', `${good}---\n${configMap}`],
  ['an empty List', `${good}---\napiVersion: v1\nkind: List\nitems: []\n`],
  ['items of a typed list', 'apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}]\n'],
  ['another kind without an apiVersion', `${good}---\nkind: Other\n`],
])('not refused for its kind: %s', async (_, stdin) => {
  const { code, stderr } = await runProgram(['lint', '--allow-empty', '-'], { stdin });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('files without any object are skipped, which one line says', async () => {
  write('mixed/a-kustomization.yaml', '# Ours\nresources: [extension.yaml]\n');
  write('mixed/extension.yaml', good);
  write('mixed/values.yaml', 'replicas: 1\n---\n[1]\n');
  const path = join(folder, 'mixed');
  const { code, stdout, stderr } = await runProgram(['lint', path]);
  expect(stderr).toBe(
    `lint: skipped 3 documents without a kind, which kubectl would refuse; the first is ${join(path, 'a-kustomization.yaml')}:2\n`,
  );
  expect(stdout).toContain('1 ExtensionConfig in 3 files: 0 errors, 0 warnings\n');
  expect(code).toBe(0);
  const json = await runProgram(['lint', '--output', 'json', path]);
  expect(JSON.parse(json.stdout).summary).toMatchObject({ errors: 0, skipped: 3 });
  const quiet = await runProgram(['lint', '--quiet', path]);
  expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('lints a folder recursively, in order, following links once', async () => {
  write('tree/b.yml', bad);
  write('tree/a/c.yaml', bad);
  write('tree/a/d.json', '{}');
  write('tree/.git/e.yaml', bad);
  write('tree/readme.txt', bad);
  symlinkSync('..', join(folder, 'tree/a/loop'));
  symlinkSync('nowhere', join(folder, 'tree/gone.yaml'));
  const { code, stdout, stderr } = await runProgram(['lint', join(folder, 'tree')]);
  expect(code).toBe(2);
  expect(stdout.match(/^.*(?=:7:18)/gm)).toEqual([join(folder, 'tree/a/c.yaml'), join(folder, 'tree/b.yml')]);
  expect(stderr).toContain('gone.yaml: cannot be read: no such file');
});

test('a missing file is an error, and the others are checked', async () => {
  const { code, stdout, stderr } = await runProgram(['lint', join(folder, 'none'), '-'], { stdin: bad });
  expect(code).toBe(2);
  expect(stdout).toContain('(url-valid)');
  expect(stderr).toContain('none: cannot be read: no such file or folder');
});

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join('');
const withSettings = (text: string) => `${good}  settings:\n${text}`;

// Each took from ten seconds to minutes at five to twelve times the size, or never ended; now all of them take some
// hundredths of a second.
test.each<[string, (count: number) => string, number, number, RegExp]>([
  ['settings', (n) => withSettings(lines(n, (i) => `    k${i}: "v"\n`)), 12_000, 0, /1 ExtensionConfig /],
  ['settings that are not strings', (n) => withSettings(lines(n, (i) => `    k${i}: ${i}\n`)), 12_000, 1, /field-type/],
  ['aliases', (n) => `a: &a 1\nb:\n${lines(n, () => '- *a\n')}`, 40_000, 0, /0 ExtensionConfigs/],
  ['anchors', (n) => lines(n, (i) => `k${i}: &a${i} 1\n`), 20_000, 0, /0 ExtensionConfigs/],
  ['markers', (n) => '---\n'.repeat(n), 400_000, 0, /0 ExtensionConfigs/],
  ['documents', (n) => 'a: 1\n---\n'.repeat(n), 16_000, 0, /0 ExtensionConfigs/],
  ['keys of a flow map', (n) => `a: {${lines(n, (i) => `k${i}: 1, `)}}`, 20_000, 0, /0 ExtensionConfigs/],
  ['entries of a flow list', (n) => `a: [\n${' b,\n'.repeat(n)}]\n`, 40_000, 0, /0 Ext/],
  ['brackets that nothing opens', (n) => `a: ${']'.repeat(n)}`, 20_000, 2, /Unexpected/],
  ['comments', (n) => `a: 1\n${'# c\n'.repeat(n)}`, 400_000, 0, /0 ExtensionConfigs/],
  ['words of a line', (n) => `a: ${'x '.repeat(n)}\n`, 800_000, 0, /0 ExtensionConfigs/],
  ['blank lines of a block scalar', (n) => `a: |\n${'\n'.repeat(n)} b\n`, 400_000, 0, /0 ExtensionConfigs/],
  ['lines of an unterminated quote', (n) => `a: "${'x\n '.repeat(n)}`, 200_000, 2, /Missing closing/],
  ['brackets in JSON', (n) => `{"a": ${'['.repeat(n)}`, 800_000, 2, /JSON: /],
  ['objects in JSON', (n) => '{}'.repeat(n), 16_000, 0, /0 ExtensionConfigs/],
])('the time for %s is proportional to their number', async (_, text, size, code, message) => {
  await expectLinear(size, async (count) => {
    const ended = await runProgram(['lint', '--allow-empty', '-'], { stdin: text(count) });
    expect(ended.stdout + ended.stderr).toMatch(message);
    expect(ended.code).toBe(code);
  });
});

test.each<[string, () => string, number, RegExp]>([
  [
    'many merges of 1,000 keys',
    () => `a: &a\n${lines(1000, (i) => ` k${i}: 1\n`)}${lines(sized(3_200), (i) => `b${i}: {<<: *a}\n`)}`,
    2,
    /too much of the document comes from aliases/,
  ],
  ['a huge key', () => `${'k'.repeat(sized(1_000_000))}: 1\n`, 2, /must be at most 1024 chars/],
  ['a huge quoted key', () => `"${'k'.repeat(sized(1_000_000))}": 1\n`, 2, /must be at most 1024 chars/],
  ['a long comment', () => `a: 1 #${' #'.repeat(sized(1_000_000))}\n`, 0, /0 ExtensionConfigs/],
])('%s takes little time', async (_, text, code, message) => {
  const stdin = text();
  using _work = limitWork(5_000);
  const ended = await runProgram(['lint', '--allow-empty', '-'], { stdin });
  expect(ended.stdout + ended.stderr).toMatch(message);
  expect(ended.code).toBe(code);
});

test('a stream over the limit is an error', async () => {
  const chunk = Buffer.alloc(1024 * 1024, '# comment\n');
  const stdin = Readable.from(Array.from({ length: 65 }, () => chunk));
  expect(await runProgram(['lint', '-'], { stdin })).toMatchObject({
    code: 2,
    stderr: '<stdin>: is larger than 64 MiB; split it into several files\n',
  });
});

test('a file that is not a regular one is an error, and nothing blocks on it', async () => {
  const pipe = join(folder, 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  const socket = join(folder, 'socket.yaml');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  try {
    const { code, stderr } = await runProgram(['lint', pipe, socket, '/dev/zero', `${folder}/none`]);
    expect(code).toBe(2);
    expect(stderr.split('\n')).toEqual([
      `${pipe}: is a FIFO, not a regular file; write it to one, or pipe it in and name "-"`,
      `${socket}: is a socket, not a regular file; write it to one, or pipe it in and name "-"`,
      '/dev/zero: is a device, not a regular file; write it to one, or pipe it in and name "-"',
      `${folder}/none: cannot be read: no such file or folder`,
      '',
    ]);
  } finally {
    server.close();
    rmSync(pipe);
  }
});

test('names are read as in kubectl', async () => {
  expect((await runProgram(['lint', '-'], { stdin: manifest('e1') })).code).toBe(0);
  const { code, stdout } = await runProgram(['lint', '-'], { stdin: manifest('08') });
  expect(code).toBe(1);
  expect(stdout).toContain('metadata.name: 8: must be of type string');
});

let configs = 0;
const config = (text: string) => write(`config-${configs++}.yaml`, text);

test.each<[string, string[], RegExp]>([
  ['no path', [], /name files or folders/],
  ['output', ['-', '--output', 'xml'], /--output: "xml" is not allowed: it must be one of text, json/],
  ['a name that Object has', ['-', '--output', 'toString'], /is not allowed: it must be one of/],
  ['max-warnings', ['-', '--max-warnings', '-1'], /--max-warnings: "-1" is not allowed: it must be a whole number/],
  ['profile', ['-', '--profile', 'Strict'], /--profile: "Strict" is not allowed: it must be one of strict, upstream/],
  ['enforcement', ['-', '--enforcement', 'no'], /--enforcement: "no" is not allowed: it must be one of deny, warn/],
  ['release', ['-', '--cluster-api-version', 'latest'], /"latest" is not allowed: it must be a release/],
  ['missing file', ['-', '--rules-config', join(folder, 'none')], /--rules-config: .*none: no such file/],
  ['unknown rule', ['-', '--rules-config', config('rules: {nope: off}')], /there is no rule "nope"/],
  ['upstream rule', ['-', '--rules-config', config('rules: {url-valid: warn}')], /must stay deny/],
  ['large file', ['-', '--rules-config', config(' '.repeat(1024 * 1024 + 1))], /larger than 1 MiB/],
])('usage error: %s', async (_, args, message) => {
  const { code, stderr, stdout } = await runProgram(['lint', ...args], { stdin: good });
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(stdout).toBe('');
});

test('a signal ends a run that waits for input', async () => {
  const stop = new AbortController();
  const stdin = new PassThrough();
  stdin.write(`${bad}---\n`);
  const ended = runProgram(['lint', '-'], { stdin, signal: stop.signal });
  setImmediate(() => stop.abort());
  expect(await ended).toMatchObject({ code: 130, stderr: 'extensionconfig-webhook: interrupted\n' });
});

test('an empty folder is an error that says what to do', async () => {
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  expect(await runProgram(['lint', empty])).toEqual({
    code: 2,
    stdout: '0 ExtensionConfigs in 0 files: 0 errors, 0 warnings\n',
    stderr: 'lint: no *.yaml, *.yml or *.json; name other files, or use --allow-empty\n',
  });
});

test('-f also names files', async () => {
  const path = write('named.yaml', good);
  expect(await runProgram(['lint', '-f', path])).toEqual(await runProgram(['lint', path]));
  const all = await runProgram([
    'lint',
    '-f',
    path,
    '--filename',
    write('second.yaml', good),
    write('third.yaml', good),
  ]);
  expect(all.stdout).toContain('3 ExtensionConfigs in 3 files');
});

test('--quiet prints denials only', async () => {
  const { code, stdout, stderr } = await runProgram(['lint', '--quiet', '-'], { stdin: `${warned}---\n${bad}` });
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/^<stdin>:15:\d+: error: [^\n]* \(url-valid\)\n$/);
  expect(await runProgram(['lint', '--quiet', '-'], { stdin: warned })).toEqual({ code: 0, stdout: '', stderr: '' });
  // It reports that there were too many.
  expect((await runProgram(['lint', '--quiet', '--max-warnings', '0', '-'], { stdin: warned })).code).toBe(1);
});

test('a file that is not YAML is distinguished from one with findings', async () => {
  const readme = fileURLToPath(new URL('../../../README.md', import.meta.url));
  const { code, stdout } = await runProgram(['lint', readme]);
  expect(code).toBe(2);
  expect(stdout).toBe('0 ExtensionConfigs in 1 file: 0 errors, 0 warnings, 1 read error\n');
});

test.each([
  ['an action as a value', 'metadata:\n  name: {{ .Release.Name }}\na: [\n'],
  ['an action at the beginning', '{{- if .Values.enabled }}\nkind: ExtensionConfig\n{{- end }}\n'],
])('a template is named as such, once: %s', async (_, text) => {
  const { code, stderr } = await runProgram(['lint', write('template.yaml', text)]);
  expect(code).toBe(2);
  expect(stderr.split('; this looks like a template: lint its output (helm template CHART | ')).toHaveLength(2);
});

/** A folder of its own with files in it. */
function tree(name: string, files: Record<string, string>): string {
  for (const [file, text] of Object.entries(files)) {
    write(join(name, file), text);
  }
  return join(folder, name);
}

const withQuery = manifest('x', 'clientConfig: {url: "https://h?q"}');

test('the nearest configuration file above a manifest applies, and flags take precedence over it', async () => {
  const root = tree('configured', {
    '.extensionconfig-lint.yaml': 'profile: upstream\n',
    'a/x.yaml': withQuery,
    'a/b/.extensionconfig-lint.yaml': 'rules: {ca-missing: deny, url-query: off}\n',
    'a/b/c/x.yaml': manifest('x', 'clientConfig: {url: "https://h?q"}').replace(/^ {2}annotations.*\n/m, ''),
  });
  const rulesOf = async (...args: string[]) => {
    const { stdout } = await runProgram(['lint', '--output', 'json', ...args]);
    return JSON.parse(stdout).findings.map(({ ruleId }: { ruleId: string }) => ruleId);
  };
  expect(await rulesOf(join(root, 'a/x.yaml'))).toEqual([]);
  expect(await rulesOf(join(root, 'a/b'))).toEqual(['ca-missing']);
  expect(await rulesOf(root)).toEqual(['ca-missing']);
  expect(await rulesOf(join(root, 'a/x.yaml'), '--profile', 'strict')).toEqual(['url-query']);
  expect(await rulesOf(join(root, 'a/b'), '--rules-config', config('rules: {ca-missing: off}'))).toEqual(['url-query']);
});

test('a configuration file above the root of the git repository is ignored', async () => {
  const root = tree('outer', {
    '.extensionconfig-lint.yaml': 'nonsense: 1\n',
    'x.yaml': good,
    'repository/.git/HEAD': '',
    'repository/a/x.yaml': withQuery,
  });
  expect((await runProgram(['lint', join(root, 'repository')])).stdout).toContain('url-query');
  expect((await runProgram(['lint', root])).stderr).toContain('nonsense: unknown field');
});

test('a configuration file can contain everything that the flags can, and the maximum of timeouts', async () => {
  const root = tree('all', {
    '.extensionconfig-lint.yaml': `profile: strict
enforcement: warn
maxHandlerTimeoutSeconds: 30
clusterApiVersion: "1.12"
rules:
  settings-credentials: deny
`,
    'x.yaml': `${manifest('x', 'clientConfig: {url: "https://h?q"}')}status:
  handlers:
  - {name: a.x, requestHook: {apiVersion: hooks.runtime.cluster.x-k8s.io/v1alpha1, hook: BeforeClusterCreate}, timeoutSeconds: 25, failurePolicy: Fail}
`,
  });
  const { stdout } = await runProgram(['lint', join(root, 'x.yaml')]);
  expect(stdout.match(/: (error|warning): .*$/gm)?.map((line) => line.replace(/:.*\(/, ' ('))).toEqual([
    ' (url-query)',
  ]);
  expect(stdout).toContain('0 errors, 1 warning');
});

test.each<[string, string, RegExp]>([
  ['broken', 'profile: [', /.extensionconfig-lint.yaml: line 1/],
  ['a list', '- a', /must be a map with any of profile, enforcement/],
  ['an unknown field', 'profil: strict', /profil: unknown field; it must be one of profile, /],
  ['an unknown profile', 'profile: hard', /profile: "hard" is not allowed: it must be one of strict, upstream/],
  [
    'a timeout',
    'maxHandlerTimeoutSeconds: 31',
    /maxHandlerTimeoutSeconds: 31 is not allowed: it must be a whole number from 1 to 30/,
  ],
  ['a timeout of zero', 'maxHandlerTimeoutSeconds: 0', /: 0 is not allowed: it must be a whole number from 1 to 30/],
  ['a map instead of a string', 'enforcement: {a: 1}', /enforcement: \{"a":1\} is not allowed: it must be a string/],
  ['rules that are a list', 'rules: [ca-missing]', /lint.yaml: rules: must be a map from rule id to off, warn or deny/],
  ...['1.10', '1.20', '1.2', '1'].map((release): [string, string, RegExp] => [
    `the release ${release} without quotes`,
    `clusterApiVersion: ${release}`,
    /clusterApiVersion: \d(\.\d)? is not allowed: a number does not keep .* write the release in quotes, such as "1.10"/,
  ]),
  ['an unknown rule', 'rules: {nope: off}', /there is no rule "nope"/],
  ['an upstream rule', 'rules: {url-valid: warn}', /must stay deny/],
  ['too large', `# ${'x'.repeat(70_000)}`, /is longer than/],
])('an unusable configuration file: %s', async (name, text, message) => {
  const root = tree(`unusable ${name}`, { '.extensionconfig-lint.yaml': text, 'x.yaml': good });
  const { code, stdout, stderr } = await runProgram(['lint', join(root, 'x.yaml')]);
  expect(stderr).toMatch(message);
  expect([code, stdout]).toEqual([2, '']);
});
