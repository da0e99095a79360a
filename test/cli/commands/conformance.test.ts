import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { checks } from '../../../src/checks/conformance/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { offered } from '../../checks/conformance/trying.ts';
import {
  type Answering,
  caBundle,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

function write(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function extension(answer: Answering) {
  const server = await startExtension(answer);
  onTestFinished(() => server.close());
  return { server, file: write('one.yaml', stringify(extensionConfig('one', { url: server.url, caBundle }))) };
}

const failing: Answering = ({ url }) =>
  url.includes('/discovery')
    ? { status: 'Success', handlers: [offered('ValidateTopology'), offered('BeforeClusterDelete')] }
    : { status: 'Failure', message: 'token=abcdefgh' };

const few = ['--check', 'answers-calls', '--check', 'messages', '--check', 'sane-retries'];

test('text says what was found, why it matters and what to do, and the exit code is 1', async () => {
  const { file } = await extension(failing);
  const { code, stdout, stderr } = await runProgram(['conformance', '-f', file, ...few]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout.replaceAll(/\d+\.\d s/g, 'N s')).toMatchInlineSnapshot(`
    "one: 1 handler called, 5 calls, N s
      FAILED   answers-calls  Every handler answers the test request within its timeoutSeconds: HTTP 200, valid JSON of at most 2 MiB, the status Success.
               - validatetopology: answers Failure: (a message that should not be shown)
               why: Anything else is a failed call: the reconcile fails and is retried, and Clusters wait.
               do: pass a request that the extension can process (--request FILE); answer failures with 200 too, with status Failure and a message; check the types of the fields; do long work in the background, and answer with retryAfterSeconds meanwhile
      FAILED   messages       Messages are the same for the same cause, without times, durations and counters, have no secrets and no stack traces, and at most 1,024 characters.
               - validatetopology: a message contains something labelled as a password, token or secret
               why: They are written into conditions, where everyone who may read Clusters sees them: one that keeps changing makes controllers loop on their own writes.
               do: say, for users, what the handler waits for or what is wrong; put details for developers in the log
      skipped  sane-retries   no handler that is called can block
      not called: beforeclusterdelete: their hooks act on Clusters: call them for made-up objects with --with-side-effects
    one: FAILED: 0 ok, 2 failed, 0 warnings, 1 skipped
    "
  `);
});

test('of a server that nothing can be asked, text shows the failure, also if no check does', async () => {
  // Another server may get the port of one that has stopped.
  const file = write('gone.yaml', stringify(extensionConfig('gone', { url: 'https://localhost:1', caBundle })));
  const all = await runProgram(['conformance', '-f', file]);
  expect(all.code).toBe(1);
  const lines = all.stdout.trimEnd().split('\n');
  expect(lines.filter((line) => !line.startsWith('  skipped '))).toEqual([
    expect.stringMatching(/^gone: 0 handlers called, /),
    '  FAILED   discovery-valid        Discovery returns only handlers that Cluster API accepts.',
    expect.stringMatching(/^ {11}- Discovery http call failed: .* connection refused$/),
    expect.stringMatching(/^ {11}why: /),
    expect.stringMatching(/^ {11}do: if nothing answers, start the server/),
    `gone: FAILED: 0 ok, 1 failed, 0 warnings, ${checks.length - 1} skipped`,
  ]);
  const one = await runProgram(['conformance', '-f', file, '--check', 'answers-calls']);
  expect(one.code).toBe(1);
  expect(one.stdout.trimEnd().split('\n').slice(1)).toEqual([
    '  FAILED   discovery-valid  Discovery returns only handlers that Cluster API accepts.',
    expect.stringMatching(/^ {11}- Discovery http call failed: .* connection refused$/),
    expect.stringMatching(/^ {11}why: /),
    expect.stringMatching(/^ {11}do: if nothing answers, start the server/),
    '  skipped  answers-calls    no handler is called',
    'gone: FAILED: 0 ok, 1 failed, 0 warnings, 1 skipped',
  ]);
  const json = JSON.parse((await runProgram(['conformance', '-f', file, '--output', 'json'])).stdout) as JsonObject;
  expect(json.checks).toHaveLength(checks.length);
});

test('colours on a terminal, and none with NO_COLOR', async () => {
  const { file } = await extension(failing);
  const args = ['conformance', '-f', file, '--check', 'repeatable'];
  expect((await runProgram(args, { isTTY: true, env: { TERM: 'xterm' } })).stdout).toContain('\u001b[32mok');
  expect((await runProgram(args, { isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } })).stdout).not.toContain(
    '\u001b[',
  );
});

test('warnings result in exit code 0', async () => {
  const { file } = await extension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [offered('CanUpdateMachine')] }
      : { status: 'Success', boostrapConfigPatch: {} },
  );
  const { code, stdout } = await runProgram(['conformance', '-f', file, '--check', 'known-fields']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('passed: 0 ok, 0 failed, 1 warning') });
});

test('json prints a line for each extension', async () => {
  const { server } = await extension(failing);
  const file = write(
    'two.yaml',
    ['b', 'a'].map((name) => stringify(extensionConfig(name, { url: server.url, caBundle }))).join('---\n'),
  );
  const { stdout } = await runProgram(['conformance', '-f', file, '--output', 'json', ...few]);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  expect(lines.map(({ extensionConfig: name, verdict }) => [name, verdict])).toEqual([
    ['b', 'failed'],
    ['a', 'failed'],
  ]);
  expect(lines[0]?.notCalled).toEqual([
    { name: 'beforeclusterdelete', reason: expect.stringContaining('--with-side-effects') },
  ]);
});

test('hooks that act on Clusters are called on request, for objects with recognizable names', async () => {
  const { server, file } = await extension(failing);
  await runProgram(['conformance', '-f', file, '--check', 'answers-calls']);
  expect(server.received.filter(({ url }) => url.includes('beforeclusterdelete'))).toEqual([]);
  await runProgram(['conformance', '-f', file, '--check', 'answers-calls', '--with-side-effects']);
  const sent = server.received.filter(({ url }) => url.includes('beforeclusterdelete'));
  expect(sent).toHaveLength(2);
  expect(JSON.parse(sent[0]!.body)).toMatchObject({
    cluster: { metadata: { name: 'conformance-sample-cluster', namespace: 'conformance-sample' } },
  });
});

test('requests of the user replace the generated ones', async () => {
  const { server, file } = await extension(failing);
  const requests = write(
    'requests.yaml',
    'kind: ValidateTopologyRequest\nitems: []\nvariables: [{name: mine, value: 5}]\n',
  );
  const { code, stderr } = await runProgram([
    'conformance',
    '-f',
    file,
    '--check',
    'repeatable',
    '--request',
    requests,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const sent = server.received.find(({ url }) => url.includes('validatetopology'));
  expect(JSON.parse(sent!.body)).toEqual({
    apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
    kind: 'ValidateTopologyRequest',
    items: [],
    variables: [{ name: 'mine', value: 5 }],
  });
});

test.each<[string, string[], string, RegExp]>([
  ['no extension', [], '', /name the ExtensionConfigs of the cluster to test, or pass files with -f/],
  ['an unknown check', ['-f', 'x', '--check', 'sane-retry'], '', /did you mean sane-retries\?/],
  [
    'a kind that is not a request',
    ['-f', 'x', '--request', 'FILE'],
    'kind: Cluster',
    /FILE:1: Cluster is not a hook request/,
  ],
  [
    'an object without a kind',
    ['-f', 'x', '--request', 'FILE'],
    'a: 1',
    /FILE:1: an object without a kind is not a hook/,
  ],
  ['files without ExtensionConfigs', ['-f', 'FILE'], 'kind: Pod', /there are no ExtensionConfigs in the files/],
  [
    'an invalid request',
    ['-f', 'x', '--request', 'FILE'],
    'kind: ValidateTopologyRequest\nitems: 5',
    /items must be of type array, not number/,
  ],
  [
    'two of the same kind',
    ['-f', 'x', '--request', 'FILE'],
    'kind: DiscoverVariablesRequest\n---\nkind: DiscoverVariablesRequest',
    /FILE:3: this is a second request for DiscoverVariables/,
  ],
  ['invalid YAML', ['-f', 'x', '--request', 'FILE'], 'a: [', /FILE:1: /],
])('usage error: %s', async (_name, args, text, message) => {
  const file = write('requests.yaml', text);
  const { code, stdout, stderr } = await runProgram([
    'conformance',
    ...args.map((arg) => (arg === 'FILE' ? file : arg)),
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.replaceAll(file, 'FILE')).toMatch(message);
});

test('every check says in one sentence what it requires, why, and what to do', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length);
  for (const { id, requirement, reason, remedy } of checks) {
    expect(id).toMatch(/^[a-z][a-z0-9-]+$/);
    expect(requirement).toMatch(/^[A-Za-z0-9].*\.$/);
    expect(reason).toMatch(/\.$/);
    expect(remedy).not.toMatch(/\.$/);
  }
});
