import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { type RunOptions, runProgram } from './io.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'openapi-merge-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const merge = (args: readonly string[], options: RunOptions = {}) => runProgram(['openapi', 'merge', ...args], options);

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function documentOf(type: string, path: string): JsonObject {
  const schema = { $ref: '#/components/schemas/A' };
  const responses = { 200: { description: 'OK', content: { 'application/json': { schema } } } };
  return {
    openapi: '3.0.0',
    info: { title: 't', version: '1' },
    paths: { [path]: { get: { operationId: `get${path.slice(1)}`, responses } } },
    components: { schemas: { A: { type } } },
  };
}

describe('files', () => {
  test('become one document, and the summary says what was renamed', async () => {
    const ended = await merge([
      file('a.json', documentOf('string', '/a')),
      file('b.json', documentOf('integer', '/b')),
    ]);
    expect(ended.code).toBe(0);
    const document = parse(ended.stdout, { uniqueKeys: false }) as JsonObject;
    expect(document.components).toEqual({ schemas: { A: { type: 'string' }, A_v2: { type: 'integer' } } });
    expect(ended.stderr).toBe(
      `openapi merge: 2 documents, 2 paths, 2 components became 2\n  renamed: schemas A of ${join(folder, 'b.json')} is A_v2\n`,
    );
  });

  test('with a long text, too', async () => {
    const described = documentOf('string', '/a');
    described.info = { title: 't', version: '1', description: 'line: "two"\n'.repeat(20_000) };
    const ended = await merge([file('long.json', described)]);
    expect(ended.code).toBe(0);
    // It can be read again.
    const again = await merge([file('long.yaml', ended.stdout), '--output', 'json']);
    expect(JSON.parse(again.stdout)).toEqual(described);
  });

  test('the recorded OpenAPI v2 document is converted, and its reference corrected', async () => {
    const recorded = fileURLToPath(new URL('../../support/fixtures/openapi/aggregated-old-v2.json', import.meta.url));
    const ended = await merge([recorded, '--output', 'json']);
    expect(ended.code).toBe(0);
    const { components } = JSON.parse(ended.stdout) as { components: { schemas: Record<string, JsonObject> } };
    const { every } = components.schemas['com.example.old.v1.Gadget']?.properties as JsonObject;
    expect(every).toEqual({ allOf: [{ type: 'object' }, { $ref: '#/components/schemas/com.example.old.v1.Name' }] });
    expect(ended.stderr).toContain(`converted: ${recorded} is OpenAPI v2`);
  });

  test('standard input and folders can be merged', async () => {
    const sub = mkdtempSync(join(folder, 'sub-'));
    writeFileSync(join(sub, 'a.yaml'), '\ufeffopenapi: 3.0.0\ninfo: {title: t, version: "1"}\npaths: {}\n');
    const ended = await merge(['-', sub, '--output', 'json'], { stdin: JSON.stringify(documentOf('string', '/x')) });
    expect(ended.stderr).toContain('2 documents, 1 path,');
    expect(Object.keys((JSON.parse(ended.stdout) as { paths: object }).paths)).toEqual(['/x']);
  });

  test('conflicts are findings', async () => {
    const other = documentOf('string', '/a');
    ((other.paths as JsonObject)['/a'] as JsonObject).get = { operationId: 'other', responses: {} };
    const [one, two] = [file('one.json', documentOf('string', '/a')), file('two.json', other)];
    const ended = await merge([one, two]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`conflict: paths./a is taken from ${one}, not from ${two}`);
  });

  test.each<[string, () => string[], number, string]>([
    ['no such file', () => ['nothing.json'], 2, 'openapi merge: nothing.json cannot be read: no such file or folder'],
    [
      'another file',
      () => [file('pod.yaml', 'kind: Pod')],
      2,
      'pod.yaml is not an OpenAPI document: it has no "openapi"',
    ],
    [
      'a folder without documents',
      () => [mkdtempSync(join(folder, 'empty-'))],
      2,
      'has no *.yaml, *.yml or *.json in it',
    ],
    [
      'no kubeconfig',
      () => ['--kubeconfig', '/nothing'],
      2,
      'no API server: the kubeconfig /nothing does not exist; or name files',
    ],
  ])('%s', async (_, args, code, message) => {
    const ended = await merge(args());
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(message);
    expect(ended.stdout).toBe('');
  });
});

test('openapi without merge is unchanged', async () => {
  const ended = await runProgram(['openapi', '--output', 'json']);
  expect(ended.code).toBe(0);
  expect((JSON.parse(ended.stdout) as { info: { title: string } }).info.title).toContain('Runtime SDK');
});

describe('an API server', () => {
  let sandbox: Sandbox;
  let kubeconfig: string;
  /** As JSON, which is faster to read than YAML. */
  let fromServer: string[];
  let first: Awaited<ReturnType<typeof merge>>;

  beforeAll(async () => {
    sandbox = await startSandbox();
    kubeconfig = file('kubeconfig', sandbox.kubeconfig);
    fromServer = ['--kubeconfig', kubeconfig, '--output', 'json'];
    first = await merge(fromServer);
  });
  afterAll(() => sandbox.stop());

  test('its documents become one', async () => {
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining('renamed')]);
    const document = JSON.parse(first.stdout) as JsonObject;
    expect(Object.keys(document.paths as object)).toContain('/apis/apps/v1/namespaces/{namespace}/deployments/{name}');
    // That the result is valid: test/kubernetes/openapi/merge.test.ts.
    const { schemas } = document.components as { schemas: object };
    const used = new Set(
      Array.from(first.stdout.matchAll(/"\$ref": ?"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name!),
    );
    expect(used.size).toBeGreaterThan(50);
    expect([...used].filter((name) => !Object.hasOwn(schemas, name))).toEqual([]);
  });

  test('can be combined with files', async () => {
    const ended = await merge([...fromServer, file('a.json', documentOf('string', '/a'))]);
    const { paths } = JSON.parse(ended.stdout) as { paths: object };
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/a', '/api/v1/pods']));
  });
});

test('documents that an API server lists but does not serve are reported as missing', async () => {
  const list = Object.fromEntries(
    ['apis/a/v1', 'apis/b/v1', 'apis/c/v1', 'apis/d/v1'].map((name) => [
      name,
      { serverRelativeURL: `/openapi/v3/${name}?hash=1` },
    ]),
  );
  const answers: Record<string, JsonObject> = {
    '/k8s/openapi/v3': { paths: list },
    '/k8s/openapi/v3/apis/a/v1?hash=1': documentOf('string', '/a'),
    '/k8s/openapi/v3/apis/c/v1?hash=1': { kind: 'Status' },
    '/k8s/openapi/v3/apis/d/v1': documentOf('string', '/d'),
  };
  const server = createServer(({ url = '' }, response) => {
    // Changed in the meantime: the list was made before.
    const isMoved = url.includes('/d/') && url.includes('hash=1');
    const answer = answers[url];
    response.writeHead(isMoved ? 301 : answer === undefined ? 403 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { kind: 'Status', message: 'not for you' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  // A path, as proxies of many clusters have.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/k8s`;
  const kubeconfig = file('proxied', {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: {} }],
  });
  const ended = await merge(['--kubeconfig', kubeconfig, '--output', 'json']);
  expect(ended.stderr).toMatch(/^ {2}missing: apis\/b\/v1: .*not for you/m);
  expect(ended.stderr).toContain('  missing: apis/c/v1: is not an OpenAPI document: it has no "openapi"\n');
  expect(ended.code).toBe(1);
  expect(Object.keys((JSON.parse(ended.stdout) as { paths: object }).paths)).toEqual(['/a', '/d']);
});
