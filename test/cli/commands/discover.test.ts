import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import {
  type Answering,
  caBundle,
  extensionConfig,
  startExtension,
  storedHandler,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
const handlers = [{ name: 'upgrade', requestHook, timeoutSeconds: 5, failurePolicy: 'Fail' }];
const offering =
  (offered: object[]): Answering =>
  ({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: offered as JsonObject[] }
      : { status: 'Success', message: 'please wait', retryAfterSeconds: 7 };

function end(response: ServerResponse, code: number, body: string): undefined {
  response.writeHead(code, { location: '/' });
  response.end(body);
}

async function server(answer: Answering, options = {}) {
  const started = await startExtension(answer, options);
  onTestFinished(() => started.close());
  return started;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'discover-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** Writes ExtensionConfigs into one file. */
function fileOf(...configs: ExtensionConfig[]): string {
  const file = join(folder(), 'configs.yaml');
  writeFileSync(file, configs.map((config) => stringify(config)).join('---\n'));
  return file;
}

/** An API server with ExtensionConfigs and namespaces, and a kubeconfig for it. */
async function cluster(
  configs: ExtensionConfig[],
  namespaces: Record<string, Record<string, string>> = {},
): Promise<string> {
  const api = createServer((request, response) => {
    const path = request.url ?? '';
    const prefix = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
    const name = path.split('/').at(-1) ?? '';
    const found =
      path === prefix
        ? {
            apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
            kind: 'ExtensionConfigList',
            items: configs.map(({ apiVersion: _a, kind: _k, ...item }) => item),
          }
        : path.startsWith(prefix)
          ? configs.find(({ metadata }) => metadata.name === name)
          : namespaces[name] && { metadata: { name, labels: namespaces[name] } };
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', code: 404, message: `"${name}" not found` }));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        api.close(() => resolve());
        api.closeAllConnections();
      }),
  );
  const file = join(folder(), 'kubeconfig');
  writeFileSync(
    file,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'a',
          cluster: {
            server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
            'insecure-skip-tls-verify': true,
          },
        },
      ],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  );
  return file;
}

test('discover reports what an extension in a file offers', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const { code, stdout, stderr } = await runProgram(['discover', '-f', file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^one: Discovered; 1 handler; TLSv1\.3, certificate until 2049-01-01; \d+ ms, \d+ ms, \d+ ms\n/,
  );
  expect(stdout).toMatch(
    /^ {2}HANDLER +HOOK +VERSION +TIMEOUT +POLICY\n {2}upgrade +BeforeClusterUpgrade +hooks\.runtime\.cluster\.x-k8s\.io\/v1alpha1 +5s +Fail\n$/m,
  );
  // Three times, for latency and stable responses.
  expect(extension.received).toHaveLength(3);
});

test('a server that requires a Content-Type fails, as it does for Cluster API', async () => {
  const offer = offering(handlers);
  const extension = await server((received, response, request) =>
    received.headers['content-type'] === 'application/json'
      ? offer(received, response, request)
      : end(response, 415, 'send application/json'),
  );
  const config = extensionConfig('one', { url: extension.url, caBundle });
  const discovered = await runProgram(['discover', '-f', fileOf(config)]);
  expect(discovered.code).toBe(1);
  expect(discovered.stdout).toContain(
    'got response with status code 415 != 200: response : "send application/json"; answer 200 at this path, even without a Content-Type,',
  );
  const stored = { ...config, status: { handlers: [storedHandler('upgrade.one', 'BeforeClusterUpgrade')] } };
  const called = await runProgram(['call', 'upgrade.one', '-f', fileOf(stored)]);
  expect(called.code).toBe(1);
  expect(called.stdout).toContain('status code 415 != 200');
});

test('discover prints JSON lines and YAML documents in the order of the objects', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(...['b', 'a', 'c'].map((name) => extensionConfig(name, { url: extension.url, caBundle })));
  const json = (await runProgram(['discover', '-f', file, '--output', 'json'])).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(json.map(({ extensionConfig: name }) => name)).toEqual(['b', 'a', 'c']);
  expect(json[0]).toMatchObject({
    status: 'Discovered',
    message: '',
    findings: [],
    handlers: [{ name: 'upgrade.b', requestHook }],
  });
});

test('discover reports everything that Cluster API would reject, each with its remedy', async () => {
  const bad = [
    { name: 'A', requestHook, timeoutSeconds: 31 },
    { name: 'b', requestHook: { ...requestHook, hook: 'NoSuchHook\u001b[2J' } },
  ];
  const extension = await server(offering(bad));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const { code, stdout } = await runProgram(['discover', '-f', file]);
  expect(code).toBe(1);
  expect(stdout).toContain('one: NotDiscovered');
  expect(stdout).toMatch(/ {2}error: A: handler name A is not valid: .*; use lower case letters/);
  expect(stdout).toMatch(
    / {2}error: A: handler A timeoutSeconds 31 must be between 0 and 30; ask for at most 10 seconds/,
  );
  expect(stdout).toMatch(/ {2}error: b: .*NoSuchHook.*is not in the Runtime SDK catalog; .*refuse the whole extension/);
  expect(stdout).not.toContain('\u001b');
  const json = JSON.parse((await runProgram(['discover', '-f', file, '--output', 'json'])).stdout);
  expect(json.message).toMatch(
    /^Error in discovery: failed to discover extension "one": failed to validate discovery response: \[/,
  );
});

test('discover warns about problems to come, and the exit code is 0', async () => {
  let answers = 0;
  const extension = await server(() => {
    answers++;
    return {
      status: 'Success',
      handlers: [{ name: `h${answers}`, requestHook, timeoutSeconds: 20, failurePolicy: 'Ignore' }],
    };
  });
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const { code, stdout } = await runProgram(['discover', '-f', file]);
  expect(code).toBe(0);
  expect(stdout).toContain('warning: h3: may take 20s, more than 10s');
  expect(stdout).toContain('warning: h3: ignores failures of a hook that can block');
  expect(stdout).toContain('warning: does not give the same answer each time');
});

test.each([
  [
    'another name',
    { certificate: makeCertificate({ commonName: 'x', dnsNames: ['other.example'], issuer: testCa }) },
    'error: the certificate is not for localhost; it is for other.example',
  ],
  [
    'the past only',
    {
      certificate: makeCertificate({
        commonName: 'x',
        dnsNames: ['localhost'],
        issuer: testCa,
        notAfter: new Date('2021-01-01T00:00:00Z'),
      }),
    },
    'error: the certificate is valid from 2020-01-01 to 2021-01-01, not now',
  ],
])('discover explains a certificate for %s', async (_name, options, message) => {
  const extension = await server(offering(handlers), options);
  const { code, stdout } = await runProgram([
    'discover',
    '-f',
    fileOf(extensionConfig('one', { url: extension.url, caBundle })),
  ]);
  expect(code).toBe(1);
  expect(stdout).toContain(message);
});

test('discover connects to a Service at another address, and verifies its own name', async () => {
  const certificate = makeCertificate({ commonName: 'x', dnsNames: ['svc.ns.svc'], issuer: testCa });
  const extension = await server(offering(handlers), { certificate });
  const file = fileOf(extensionConfig('one', { service: { name: 'svc', namespace: 'ns' }, caBundle }));
  const { code, stdout } = await runProgram([
    'discover',
    '-f',
    file,
    '--resolve',
    `ns/svc:443=localhost:${extension.port}`,
  ]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('one: Discovered') });
});

test('discover and call use the cluster of a kubeconfig', async () => {
  const extension = await server(offering(handlers));
  const kubeconfig = await cluster(
    [
      extensionConfig('one', { url: extension.url, caBundle }, [storedHandler('upgrade.one', 'BeforeClusterUpgrade')]),
      extensionConfig(
        'two',
        { url: extension.url, caBundle },
        [storedHandler('upgrade.two', 'BeforeClusterUpgrade'), storedHandler('delete.two', 'BeforeClusterDelete')],
        { spec: { namespaceSelector: { matchLabels: { team: 'b' } } } },
      ),
    ],
    { default: { team: 'a' } },
  );
  const all = await runProgram(['discover', '--kubeconfig', kubeconfig]);
  expect(all.stderr).toBe('');
  expect(all.stdout).toMatch(/^one: Discovered[\s\S]*^two: Discovered/m);
  const none = await runProgram(['discover', 'three', '--kubeconfig', kubeconfig]);
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"three" not found; "kubectl get extensionconfigs" lists those'),
  });
  const called = await runProgram(['call', '--hook', 'BeforeClusterUpgrade', '--kubeconfig', kubeconfig]);
  expect(called.stdout).toMatch(/^upgrade\.one: blocked for 7s: please wait\n/);
  expect(called.stdout).not.toContain('upgrade.two');
  const inDefault = ['--kubeconfig', kubeconfig, '-n', 'default'];
  const unmatched = await runProgram(['call', '--hook', 'BeforeClusterDelete', ...inDefault]);
  expect(unmatched.stderr).toBe(
    'the namespaceSelector of two does not match namespace default: "kubectl get namespace default --show-labels" shows its labels; name another one with --namespace\n',
  );
  const excluded = await runProgram(['call', 'upgrade.two', ...inDefault]);
  expect(excluded).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('namespaceSelector did not match object default/'),
  });
});

// Without it, the namespace default was looked up: nothing was called, and that was a success.
test('call takes the namespace of a Cluster that only the builtin variable names', async () => {
  const hook = 'GeneratePatches';
  const extension = await server(offering([{ name: 'patch', requestHook: { ...requestHook, hook } }]));
  const selector = { matchLabels: { 'kubernetes.io/metadata.name': 'team-a' } };
  const handlers = [storedHandler('patch.one', hook)];
  const file = fileOf(
    extensionConfig('one', { url: extension.url, caBundle }, handlers, { spec: { namespaceSelector: selector } }),
  );
  const request = join(folder(), 'request.yaml');
  const builtin = { name: 'builtin', value: { cluster: { name: 'lab', namespace: 'team-a' } } };
  writeFileSync(request, stringify({ variables: [builtin], items: [] }));
  const args = ['--request', request, '-f', file];
  const all = await runProgram(['call', '--hook', hook, ...args]);
  expect(all).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^patch\.one: accepted/) });
  expect((await runProgram(['call', 'patch.one', ...args])).code).toBe(0);
  expect(extension.received).toHaveLength(2);
});

test('call prints the answer and what Cluster API would do with it', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const { code, stdout } = await runProgram(['call', 'upgrade.one', '-f', file]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^upgrade\.one: blocked for 7s: please wait\n {2}retryAfterSeconds: 7\n/);
  expect(JSON.parse(extension.received.at(-1)?.body ?? '')).toMatchObject({ kind: 'BeforeClusterUpgradeRequest' });
  const json = JSON.parse((await runProgram(['call', 'upgrade.one', '-f', file, '--output', 'json'])).stdout);
  expect(json).toMatchObject({
    hook: 'BeforeClusterUpgrade',
    verdict: 'blocked',
    retryAfterSeconds: 7,
    calls: [{ handler: 'upgrade.one', verdict: 'blocked', response: { status: 'Success' } }],
  });
});

test('call reports an answer of a hook that cannot block as accepted, whatever retryAfterSeconds says', async () => {
  const hook = 'AfterControlPlaneInitialized';
  const extension = await server(offering([{ name: 'ready', requestHook: { ...requestHook, hook } }]));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const one = await runProgram(['call', 'ready.one', '-f', file]);
  expect(one.stdout).toMatch(/^ready\.one: accepted: please wait\n/);
  const all = await runProgram(['call', '--hook', hook, '-f', file, '--output', 'json']);
  expect(JSON.parse(all.stdout)).toMatchObject({ verdict: 'accepted', calls: [{ verdict: 'accepted' }] });
});

test('call sends a request from a file, and rejects one of another hook', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const request = join(folder(), 'request.yaml');
  const call = () => runProgram(['call', 'upgrade.one', '-f', file, '--request', request]);
  writeFileSync(request, 'cluster: { spec: {} }\nfromKubernetesVersion: v1.1.0\ntoKubernetesVersion: v1.2.0\n');
  expect(await call()).toMatchObject({ code: 0 });
  expect(JSON.parse(extension.received.at(-1)?.body ?? '')).toMatchObject({ fromKubernetesVersion: 'v1.1.0' });
  writeFileSync(request, 'cluster: { spec: {} }\n');
  expect(await call()).toMatchObject({ code: 1, stdout: expect.stringContaining('fromKubernetesVersion must be set') });
  writeFileSync(request, 'kind: BeforeClusterCreateRequest\n');
  expect(await call()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not BeforeClusterUpgradeRequest'),
  });
});

test('call sends a Cluster as "kubectl get -o yaml" prints it, whatever its release has in the status', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const request = join(folder(), 'request.yaml');
  const cluster = {
    spec: {},
    // Fields of 1.14, and of none.
    status: {
      controlPlane: {
        replicas: 1,
        versions: [{ version: 'v1.1.0', replicas: 1 }],
        upgradePlan: [{ version: 'v1.2.0' }],
      },
      workers: { upgradePlan: [] },
      ofTheFuture: true,
    },
  };
  writeFileSync(request, stringify({ cluster, fromKubernetesVersion: 'v1.1.0', toKubernetesVersion: 'v1.2.0' }));
  const { code, stdout } = await runProgram(['call', 'upgrade.one', '-f', file, '--request', request]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^upgrade\.one: blocked for 7s/) });
});

/** Calls a handler that is known without discovery, and that nothing serves. */
function callWith(request: string) {
  const handlers = [storedHandler('upgrade.one', 'BeforeClusterUpgrade')];
  const file = fileOf(extensionConfig('one', { url: 'https://127.0.0.1:1', caBundle }, handlers));
  return runProgram(['call', 'upgrade.one', '-f', file, '--request', request]);
}

test.each<[string, string, RegExp]>([
  ['not YAML', 'a: 1\nb: [', /: --request: \S+request\.yaml:2: YAML: /],
  ['a key twice', 'cluster: {}\na:\n  c: 1\n  c: 2\n', /request\.yaml:4: YAML: .*"c"/],
  ['a list', '- a\n', /request\.yaml: is not an object: .*"hooks BeforeClusterUpgrade" shows one/],
  ['empty', '', /is not an object/],
  ['two requests', 'a: 1\n---\nb: 2\n', /request\.yaml:3: is a second request: pass one file for each call/],
  [
    'for an invalid namespace',
    'cluster: {metadata: {name: lab, namespace: ../secrets}}\n',
    /--request: the namespace "\.\.\/secrets" of the Cluster must consist of lower case/,
  ],
  ['too large', `a: ${'x'.repeat(8 * 1024 * 1024)}`, /request\.yaml: .*8 MiB/],
])('call rejects a request that is %s', async (_name, text, message) => {
  const request = join(folder(), 'request.yaml');
  writeFileSync(request, text);
  const { code, stderr } = await callWith(request);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

test.each<[string, Answering, number, RegExp]>([
  [
    'Failure',
    ({ url }) =>
      url.includes('/discovery')
        ? { status: 'Success', handlers }
        : { status: 'Failure', message: 'no \u001b[2Jquota' },
    1,
    /^upgrade\.one: failed: failed to call extension handler "upgrade\.one": got failure response with message: no \ufffd\[2Jquota\n$/,
  ],
  [
    'an error that Ignore hides',
    (received, response) => {
      if (received.url.includes('/discovery')) {
        return { status: 'Success', handlers: [{ ...handlers[0], failurePolicy: 'Ignore' }] };
      }
      response.writeHead(500);
      response.end('broken');
      return undefined;
    },
    0,
    /^upgrade\.one: swallowed by failurePolicy Ignore: http call failed: .*status code 500/,
  ],
])('call explains %s', async (_name, answer, code, text) => {
  const extension = await server(answer);
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const ended = await runProgram(['call', 'upgrade.one', '-f', file]);
  expect(ended.code).toBe(code);
  expect(ended.stdout).toMatch(text);
});

test.each<[string[], RegExp]>([
  [['call'], /name a handler as HANDLER\.EXTENSIONCONFIG, or pass --hook HOOK$/m],
  [['call', 'a.b', '--hook', 'BeforeClusterUpgrade'], /name a handler/],
  [['call', 'ab'], /"ab" lacks the name of its ExtensionConfig: write HANDLER\.EXTENSIONCONFIG/],
  [['call', 'BeforeClusterUpgrad'], /there is no hook "BeforeClusterUpgrad"; did you mean BeforeClusterUpgrade/],
  [['call', 'BeforeClusterUpgrade'], /the handlers of a hook are called with --hook BeforeClusterUpgrade$/m],
  [
    ['call', 'a.b', '-n', 'Bad_NS'],
    /--namespace: "Bad_NS" is not allowed: it must consist of lower case letters, digits and '-', .*\(e\.g\. 'my-name'\)/,
  ],
  [['call', '--hook', 'BeforeClusterUpgrade', '-n', ''], /--namespace: "" is not allowed/],
  [['call', '--hook', 'BeforeClusterUpgrad'], /did you mean BeforeClusterUpgrade/],
  [['call', '--hook', 'Discovery'], /use "discover" to call it/],
  [['discover', '-f', '/nowhere.yaml'], /nowhere\.yaml: .*no such file/],
  [['discover', '-f', 'biome.json'], /there are no ExtensionConfigs in the files: pass others with -f/],
  [['discover', 'A B'], /is not the name of an ExtensionConfig/],
  [
    ['discover', '--resolve', 'ns/svc=localhost:1'],
    /it must be of the form capi-system\/my-extension:443=localhost:8443/,
  ],
  [['discover', '--kubeconfig', '/nowhere'], /no cluster: .*pass files with -f/],
])('%j is a usage error', async (args, message) => {
  const { code, stderr } = await runProgram(args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});

test('discover reports a certificate whose dates cannot be read, and goes on with the next extension', async () => {
  const certificate = makeCertificate({ commonName: 'x', dnsNames: ['localhost'], issuer: testCa });
  const der = Buffer.from(certificate.cert.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  // The second of the two dates (UTCTime, tag 0x17, 13 characters).
  const first = der.indexOf(Buffer.from([0x17, 13]));
  der.write('999999999999Z', der.indexOf(Buffer.from([0x17, 13]), first + 15) + 2);
  const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  const odd = await server(offering(handlers), { certificate: { ...certificate, cert } });
  const good = await server(offering(handlers));
  const configs = [
    extensionConfig('odd', { url: odd.url, caBundle }),
    extensionConfig('good', { url: good.url, caBundle }),
  ];
  const { code, stdout, stderr } = await runProgram(['discover', '-f', fileOf(...configs)]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toContain('error: the dates of the certificate cannot be read; issue it again');
  expect(stdout).toContain('certificate until an unreadable date');
  expect(stdout).toMatch(/^good: Discovered; 1 handler/m);
});

test('discover ends when it is stopped', async () => {
  const stop = new AbortController();
  const extension = await server(() => {
    stop.abort('SIGINT');
    return undefined;
  });
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  expect(await runProgram(['discover', '-f', file], { signal: stop.signal })).toMatchObject({ code: 130 });
});

test.each<[string, Answering, RegExp]>([
  [
    'responds with an error code',
    (_received, response) => end(response, 503, 'later\u001b[2J'),
    /status code 503 != 200: response : "later\\x1b\[2J"; answer 200 at this path/,
  ],
  ['redirects', (_received, response) => end(response, 302, ''), /status code 302/],
  [
    'does not respond with JSON',
    (_received, response) => end(response, 200, '<html>'),
    /failed to decode response: invalid character '<' looking for beginning of value; answer one JSON object/,
  ],
  [
    'responds with a wrong type',
    () => ({ status: 'Success', handlers: 'all' }),
    /failed to decode response: handlers must be of type array, not string/,
  ],
  [
    'responds with Failure',
    () => ({ status: 'Failure', message: 'not yet' }),
    /got failure response with message: not yet; answer discovery with status Success/,
  ],
  [
    'closes the connection',
    (_received, response) => void response.destroy(),
    /http call failed: Post "https:\/\/localhost.*; check that the server is running/,
  ],
  [
    'never ends its response',
    (_received, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(1024 * 1024, ' ')), 5);
      response.on('close', () => clearInterval(timer));
      return undefined;
    },
    /larger than 2 MiB; send a smaller answer/,
  ],
])('discover describes a server that %s', async (_name, answer, finding) => {
  const extension = await server(answer);
  const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
  const { code, stdout } = await runProgram(['discover', '-f', file]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^one: NotDiscovered/);
  expect(stdout).toMatch(finding);
});

test('call --hook says why no handler was called', async () => {
  const file = fileOf(
    ...Array.from({ length: 7 }, (_, index) =>
      extensionConfig(
        `e${index}`,
        { url: 'https://localhost:1', caBundle },
        [storedHandler(`a.e${index}`, 'BeforeClusterUpgrade'), storedHandler(`b.e${index}`, 'BeforeClusterUpgrade')],
        { spec: { namespaceSelector: { matchLabels: { team: 'b' } } } },
      ),
    ),
  );
  const call = (hook: string) => runProgram(['call', '--hook', hook, '-f', file]);
  expect(await call('BeforeClusterUpgrade')).toEqual({
    code: 0,
    stdout: 'BeforeClusterUpgrade: no handler matches: accepted\n',
    stderr:
      'the namespaceSelector of e0, e1, e2, e3, e4 and 2 more does not match namespace default: of a namespace in files only the label kubernetes.io/metadata.name is known; leave out -f to ask the cluster, or name another one with --namespace\n',
  });
  expect(await call('BeforeClusterDelete')).toMatchObject({
    stdout: 'BeforeClusterDelete: no handler matches: accepted\n',
    stderr: 'no extension has a handler of BeforeClusterDelete; "discover" lists the handlers that there are\n',
  });
});

test('the remedy for a refused connection does not suppose a Service', async () => {
  const { stdout } = await runProgram([
    'discover',
    '-f',
    fileOf(extensionConfig('one', { url: 'https://localhost:1', caBundle })),
  ]);
  expect(stdout).toMatch(
    /connection refused; .*listens on this port, and the endpoints if it is called through a Service$/m,
  );
});

test('call says how to reach a Service from outside of its cluster', async () => {
  const target = { service: { name: 'gone', namespace: 'ns' }, caBundle };
  const stored = [storedHandler('upgrade.one', 'BeforeClusterUpgrade')];
  const called = await runProgram(['call', 'upgrade.one', '-f', fileOf(extensionConfig('one', target, stored))]);
  expect(called).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(
      /no such host.*use --resolve, or read the ExtensionConfig from the cluster, which starts kubectl port-forward\n$/,
    ),
  });
  const asked = await runProgram(['call', 'upgrade.one', '-f', fileOf(extensionConfig('one', target))]);
  expect(asked).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /no such host.*use --resolve, or read the ExtensionConfig from the cluster, which starts kubectl port-forward\n/,
    ),
  });
});

test('call --hook names the extensions that it could not discover', async () => {
  const [good, bad] = [
    await server(offering(handlers)),
    await server(() => ({ status: 'Failure', message: 'not yet' })),
  ];
  const file = fileOf(
    extensionConfig('good', { url: good.url, caBundle }),
    extensionConfig('bad', { url: bad.url, caBundle }),
  );
  const ended = await runProgram(['call', '--hook', 'BeforeClusterUpgrade', '-f', file]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('failed to discover extension "bad": got failure response with message: not yet');
  expect(ended.stdout).toContain('upgrade.good: blocked for 7s');
});

test('without a caBundle the system roots are trusted, as in Go', async () => {
  const extension = await server(offering(handlers));
  const file = fileOf(extensionConfig('one', { url: extension.url }));
  const roots = join(folder(), 'roots.pem');
  writeFileSync(roots, testCa.cert);
  const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [main, 'discover', '-f', file], {
    env: { ...process.env, SSL_CERT_FILE: roots, SSL_CERT_DIR: '/nowhere' },
  });
  expect(stdout).toContain('one: Discovered');
  expect(stdout).toContain("warning: has no caBundle: the certificate is verified with the system's root CAs");
});
