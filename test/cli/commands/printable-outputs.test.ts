import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wholeProgram } from '../../../src/cli/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

/** DEL, C1 (CSI in one character), an override of the direction, a line separator, and a command to a runner. */
const nasty = 'a\u007f\u009b31m\u202eb\u2028c##[group]d';
const raw = /[\u007f-\u009f\u202e\u2028]|##\[/;

let folder: string;
let server: ExtensionServer;
let config: string;
/** An extension with a nasty handler. */
let bad: string;
let manifest: string;
/** A file that is not YAML. */
let broken: string;
let settings: string;
let behaviour: string;
let definition: string;
let document: string;
let otherDocument: string;
let cluster: string;
/** Of an API server that refuses everything. */
let kubeconfig: string;
const refusing = createServer((_, response) => {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 403,
    reason: 'Forbidden',
    message: nasty,
  };
  response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status));
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'printable-'));
  server = await startExtension(({ url }) => {
    const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
    const handlers = [{ name: url.startsWith('/bad') ? nasty : 'up', requestHook }];
    return url.includes('/discovery')
      ? ({ status: 'Success', handlers } as JsonObject)
      : { status: 'Failure', message: nasty };
  });
  const extension = extensionConfig('one', { url: server.url, caBundle });
  config = join(folder, 'one.json');
  writeFileSync(config, JSON.stringify(extension));
  bad = join(folder, 'bad.json');
  writeFileSync(bad, JSON.stringify(extensionConfig('bad', { url: `${server.url}/bad`, caBundle })));
  manifest = join(folder, 'nasty.json');
  const spec = { clientConfig: { url: `http://${nasty}` }, namespaceSelector: { matchLabels: { [nasty]: nasty } } };
  writeFileSync(
    manifest,
    JSON.stringify({ ...extension, metadata: { name: nasty, labels: { [nasty]: nasty } }, spec }),
  );
  const write = (name: string, content: unknown) => {
    const file = join(folder, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  broken = write('broken.yaml', `a: {"a\\x9b\\u202e": 1, "a\\x9b\\u202e": 2}`);
  settings = write('settings.json', { apiVersion: nasty, rules: { [nasty]: nasty } });
  behaviour = write('behaviour.json', { handlers: { [nasty]: nasty } });
  const schema = {
    type: 'object',
    description: nasty,
    properties: { spec: { type: 'object', description: nasty, properties: { [nasty]: { enum: [nasty] } } } },
  };
  definition = write('definition.json', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'example.com',
      names: { kind: 'ATemplate' },
      versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const documentOf = (type: string) => ({
    openapi: '3.0.0',
    info: { title: nasty, version: 'v1.14.0' },
    paths: { [`/hooks.runtime.cluster.x-k8s.io/v1alpha1/${nasty}`]: { post: { operationId: nasty, responses: {} } } },
    components: { schemas: { [nasty]: { type } } },
  });
  document = write('document.json', documentOf('string'));
  otherDocument = write('other.json', documentOf('integer'));
  cluster = write('cluster.json', {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'one', namespace: 'default' },
    spec: { topology: { classRef: { name: nasty }, version: 'v1.33.0' } },
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const { port } = refusing.address() as AddressInfo;
  kubeconfig = write('kubeconfig.json', {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    clusters: [{ name: 'one', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'one', user: {} }],
  });
  const certs = join(folder, 'certs');
  await runProgram(['certs', 'bootstrap', '--cert-dir', certs]);
  const files = ['-keyout', join(certs, 'tls.key'), '-out', join(certs, 'tls.crt')];
  const args = [
    'req',
    '-x509',
    '-utf8',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-subj',
    `/CN=${nasty}`,
    ...files,
  ];
  execFileSync('openssl', args, { stdio: 'ignore' });
});
afterAll(async () => {
  await server.close();
  refusing.closeAllConnections();
  refusing.close();
  rmSync(folder, { recursive: true });
});

const each = (command: string, outputs: string[], args: () => string[]): [string, () => string[]][] =>
  outputs.map((output) => [`${command} --output ${output}`, () => [...args(), '--output', output]]);

/** Every command that repeats text from files, servers or a cluster, with a nasty one. */
const repeating: [string, () => string[]][] = [
  ...each('lint', ['text', 'github', 'sarif', 'json'], () => ['lint', manifest]),
  ['lint --facts', () => ['lint', config, '--facts', manifest, '--facts', broken]],
  ...each('discover', ['text', 'json'], () => ['discover', '-f', bad]),
  ...each('call', ['text', 'json'], () => ['call', 'up.one', '-f', config]),
  ['call --request', () => ['call', 'up.one', '-f', config, '--request', settings]],
  ...each('rehearse', ['text', 'json'], () => ['rehearse', '-f', config, '--set-version', 'v1.33.0']),
  ...each('conformance', ['text', 'json'], () => [...['conformance', '-f', bad, '--check', 'discovery-valid']]),
  ...each('plan', ['text', 'markdown', 'json', 'html'], () => ['plan', '-f', cluster, '--from', cluster]),
  ...each('doctor', ['text', 'json'], () => ['doctor', '--kubeconfig', kubeconfig, '--cluster-api-version', 'v1.14']),
  ['convert', () => ['convert', manifest, '--to', 'v1alpha1']],
  ['convert --check', () => ['convert', '--check', manifest, '--to', 'v1alpha1']],
  ['convert of what cannot be read', () => ['convert', broken]],
  ...each('certs status', ['text', 'json'], () => ['certs', 'status', '--cert-dir', join(folder, 'certs')]),
  ...each('openapi merge', ['yaml', 'json'], () => ['openapi', 'merge', document, otherDocument]),
  ['template-types', () => ['template-types', definition]],
  ['serve --rules-config', () => ['serve', '--self-signed', '--rules-config', settings]],
  ['sample-extension --behaviour', () => ['sample-extension', '--self-signed', '--behaviour', behaviour]],
];

/** Commands without text from outside, and those whose outputs are their logs, which are tested below. */
const others = [
  ...[
    'rules',
    'hooks',
    'openapi',
    'version',
    'completion',
    'new-extension',
    'add-handler',
    'certs bootstrap',
    'certs rotate',
    'certs inject',
  ],
  ...['controller', 'sandbox'],
];

test.each(repeating)('%s prints what a server or a file says without control characters', async (_name, args) => {
  // As on a terminal: only there, the text that convert copies is not what it writes to a file.
  const { stdout, stderr } = await runProgram(args(), { isTTY: true, env: { NO_COLOR: '1' } });
  // It is shown, in some form of escape.
  expect(`${stdout}${stderr}`).toMatch(/u009b|&#155;|\ufffd|\\302\\233/i);
  expect(stdout).not.toMatch(raw);
  expect(stderr).not.toMatch(raw);
});

test('that is every command, and every format', async () => {
  const { stdin, stdout, stderr } = process;
  const program = await wholeProgram({ stdin, stdout, stderr, env: {}, signal: new AbortController().signal });
  const outputsOf = (command: typeof program, name: string): string[] => {
    const formats = command.options.find(({ long }) => long === '--output')?.argChoices;
    const own = formats === undefined ? [name] : formats.map((format) => `${name} --output ${format}`);
    const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0 && formats === undefined;
    return [
      ...(isGroup ? [] : own),
      ...command.commands.flatMap((child) => outputsOf(child, `${name} ${child.name()}`.trim())),
    ];
  };
  const covered = [...repeating.map(([name]) => name), ...others];
  const missing = outputsOf(program, '').filter(
    (output) =>
      !covered.some(
        (name) => output === name || output.startsWith(`${name} --output`) || name.startsWith(`${output} --`),
      ),
  );
  expect(missing).toEqual([]);
});

test.each([
  ['a command', [nasty]],
  ['an argument', ['add-handler', nasty]],
  ['a flag', ['lint', `--${nasty}`]],
])('%s that is refused is repeated without control characters', async (_name, args) => {
  const { code, stderr } = await runProgram(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(/u009b/i);
  expect(stderr).not.toMatch(raw);
});

test('convert writes the text as it is to a file or another program', async () => {
  const { stdout } = await runProgram(['convert', manifest, '--to', 'v1alpha1']);
  expect(JSON.parse(stdout).metadata.name).toBe(nasty);
  expect(stdout).toContain(nasty);
});
