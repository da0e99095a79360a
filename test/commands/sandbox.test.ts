import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { AdmissionregistrationV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { run } from '../../src/commands/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { createCertificateFolder, startServeProcess } from '../e2e/serve-process.ts';
import { eventually } from '../sandbox/client.ts';
import { needs } from '../tools/needs.ts';

function start(args: string[]) {
  const stop = new AbortController();
  const output = { out: '', err: '' };
  const stdout = new PassThrough().on('data', (chunk) => {
    output.out += chunk;
  });
  const stderr = new PassThrough().on('data', (chunk) => {
    output.err += chunk;
  });
  const ended = run(['sandbox', ...args], { stdin: new PassThrough(), stdout, stderr, env: {}, signal: stop.signal });
  return { stop, output, ended };
}

/** Waits until a sandbox says what to try. @returns where its kubeconfig is. */
async function ready(output: { out: string }): Promise<string> {
  await eventually(
    async () => output.out,
    (text) => text.includes('kubectl get'),
  );
  return /KUBECONFIG=(\S+)/.exec(output.out)?.[1] as string;
}

test('prints a kubeconfig that only its owner may read, and leaves nothing behind', async () => {
  const { stop, output, ended } = start([]);
  const file = await ready(output);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(output.out).toMatch(new RegExp(`\nStopped. Everything that the sandbox kept is gone, and so is ${file}.\n$`));
});

test('a terminal that is closed ends it, and leaves nothing behind', needs('script'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const env = { ...process.env, TMPDIR: folder };
  const command = `${process.execPath} src/main.ts sandbox`;
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => output,
    (text) => text.includes('kubectl get'),
  );
  expect(readdirSync(folder)).toHaveLength(1);
  // Its end of the terminal goes with it, which is a SIGHUP for what runs there.
  terminal.kill('SIGKILL');
  await eventually(
    async () => readdirSync(folder),
    (files) => files.length === 0,
  );
  rmSync(folder, { recursive: true });
});

test('a port that is taken is said as serve says it', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { output, ended } = start(['--port', String(port)]);
  expect(await ended).toBe(1);
  expect(output.err).toContain(`port ${port} is in use: stop what listens there or choose another with --port`);
  taken.close();
});

test('replaces the kubeconfig of a sandbox that was killed, and only that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stale-'));
  const file = join(folder, 'kubeconfig');
  const dead = await startSandbox();
  await dead.stop();
  writeFileSync(file, dead.kubeconfig);
  const { stop, output, ended } = start(['--write-kubeconfig', file]);
  await ready(output);
  expect(readFileSync(file, 'utf8')).not.toBe(dead.kubeconfig);
  stop.abort();
  expect(await ended).toBe(0);
  const others = [
    dead.kubeconfig.replaceAll('extensionconfig-sandbox', 'kind'),
    dead.kubeconfig.replace('127.0.0.1', '10.0.0.1'),
    `${dead.kubeconfig}- context: {}\n`,
    'not: [a kubeconfig',
    '',
  ];
  for (const text of others) {
    writeFileSync(file, text);
    const refused = start(['--write-kubeconfig', file]);
    expect(await refused.ended).toBe(2);
    expect(refused.output.err).toContain(`${file} exists`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  rmSync(folder, { recursive: true });
});

// By real signals, because what is left behind would hold a token.
test.each([
  ['before it is ready', 'SIGINT', 130],
  ['when it is ready', 'SIGINT', 0],
  ['when it is ready', 'SIGTERM', 0],
] as const)('stopped %s by %s it leaves nothing behind, exit code %d', async (when, signal, code) => {
  const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, ['src/main.ts', 'sandbox'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => ({ files: readdirSync(folder), text: output }),
    ({ files, text }) => files.length > 0 && (when === 'before it is ready' || text.includes('kubectl get')),
  );
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(code);
  expect(readdirSync(folder)).toEqual([]);
  expect(output).toMatch(code === 0 ? /kubectl get/ : /^extensionconfig-webhook: stopped before the end$/m);
  rmSync(folder, { recursive: true });
});

test('puts a webhook server that runs by itself in front of it', async () => {
  const folder = createCertificateFolder();
  const server = await startServeProcess(folder);
  const url = `https://127.0.0.1:${server.webhookPort}`;
  const { stop, output, ended } = start(['--webhook-url', url, '--webhook-ca-file', `${folder.path}/tls.crt`]);
  try {
    const config = new KubeConfig();
    config.loadFromFile(await ready(output));
    expect(output.out).toContain(`its webhook: ${url}.`);
    const create = (extension: string) =>
      config.makeApiClient(CustomObjectsApi).createClusterCustomObject({
        group: 'runtime.cluster.x-k8s.io',
        version: 'v1alpha1',
        plural: 'extensionconfigs',
        body: {
          apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1',
          kind: 'ExtensionConfig',
          metadata: { name: 'hooks' },
          spec: { clientConfig: { url: extension } },
        },
      });
    await expect(create('http://extension.example.com')).rejects.toMatchObject({ code: 422 });
    expect(await create('https://extension.example.com')).toMatchObject({ spec: { namespaceSelector: {} } });
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
    expect(await server.stop()).toBe(0);
    folder.remove();
  }
});

test('writes its kubeconfig where scripts wait for it, and never over another file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-'));
  const file = join(folder, 'kubeconfig');
  const { stop, output, ended } = start(['--write-kubeconfig', file]);
  await eventually(
    async () => readdirSync(folder),
    (files) => files.includes('kubeconfig'),
  );
  // When it is there, all is ready.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const config = new KubeConfig();
  config.loadFromFile(file);
  const objects = config.makeApiClient(CustomObjectsApi);
  const resource = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', plural: 'extensionconfigs' };
  expect(await objects.listClusterCustomObject(resource)).toMatchObject({ items: [] });
  const second = start(['--write-kubeconfig', file]);
  expect(await second.ended).toBe(2);
  expect(second.output.err).toContain(`--write-kubeconfig: ${file} exists`);
  stop.abort();
  expect(await ended).toBe(0);
  expect(output.out).toContain(`KUBECONFIG=${file}`);
  expect(readdirSync(folder)).toEqual([]);
  const nowhere = start(['--write-kubeconfig', join(folder, 'missing', 'kubeconfig')]);
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.output.err).toContain('the kubeconfig cannot be written: ENOENT');
  rmSync(folder, { recursive: true });
});

test('its webhook configurations are those of the manifests, with a caBundle', async () => {
  const { stop, output, ended } = start([]);
  try {
    const config = new KubeConfig();
    config.loadFromFile(await ready(output));
    const registration = config.makeApiClient(AdmissionregistrationV1Api);
    const manifests = parseAllDocuments(readFileSync('manifests/base/webhooks.yaml', 'utf8')).map((document) =>
      document.toJS(),
    );
    const found = [
      ...(await registration.listMutatingWebhookConfiguration()).items,
      ...(await registration.listValidatingWebhookConfiguration()).items,
    ];
    expect(found).toMatchObject(manifests.map(({ metadata, webhooks }) => ({ metadata, webhooks })));
    for (const { webhooks } of found) {
      expect(webhooks?.[0]?.clientConfig.caBundle).toMatch(/^[A-Za-z0-9+/]{1000}/);
    }
  } finally {
    stop.abort();
    await ended;
  }
});

test('takes the manifests of an installation with kubectl', { ...needs('kubectl'), timeout: 60_000 }, async () => {
  const { stop, output, ended } = start([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    for (const overlay of ['default', 'with-crd']) {
      expect(await kubectl('apply', '-k', `manifests/overlays/${overlay}`)).toMatch(/mutatingwebhookconfiguration/);
    }
    // The webhooks still have their certificates, and now match conditions.
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    const rotate = ['create', 'job', 'rotate-now', '--from=cronjob/extensionconfig-webhook-rotate'];
    expect(await kubectl('-n', 'extensionconfig-webhook-system', ...rotate)).toMatch(/rotate-now created/);
    expect(await kubectl('delete', '-k', 'manifests/overlays/default')).toMatch(/webhookconfiguration.* deleted/);
  } finally {
    stop.abort();
    await ended;
  }
});

test('takes them with a webhook server that runs by itself, too', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const folder = createCertificateFolder();
  const server = await startServeProcess(folder);
  const url = `https://127.0.0.1:${server.webhookPort}`;
  const { stop, output, ended } = start(['--webhook-url', url, '--webhook-ca-file', `${folder.path}/tls.crt`]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    expect(await kubectl('apply', '-k', 'manifests/overlays/with-crd')).toMatch(/mutatingwebhookconfiguration/);
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    expect(await kubectl('get', 'extensionconfigs.v1alpha1.runtime.cluster.x-k8s.io', '-o', 'name')).toMatch(/^\S+\n$/);
  } finally {
    stop.abort();
    await ended;
    await server.stop();
    folder.remove();
  }
});

test('kubectl asks what it may do, acts for others, and does not wait for what never runs', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const { stop, output, ended } = start([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], { timeout: 20_000 }).then(
        ({ stdout }) => stdout,
        ({ stderr }: { stderr: string }) => stderr,
      );
    expect(await kubectl('auth', 'can-i', '--list')).toMatch(/\*\.\* +\[\] +\[\] +\[\*\]/);
    expect(await kubectl('auth', 'can-i', 'delete', 'nodes', '--as', 'somebody')).toBe('yes\n');
    const as = ['--as', 'system:serviceaccount:a:b', '--as-uid', '7'];
    expect(JSON.parse(await kubectl('auth', 'whoami', '-o', 'json', ...as))).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:a:b',
          uid: '7',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
        },
      },
    });
    expect(await kubectl('create', 'deployment', 'web', '--image=web')).toMatch(/created/);
    const started = performance.now();
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('exceeded its progress deadline');
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await kubectl('describe', 'deployment/web')).toMatch(/ProgressDeadlineExceeded/);
    expect(await kubectl('get', 'deployment/web', '-o', 'yaml')).toContain('nothing runs in the sandbox');
  } finally {
    stop.abort();
    await ended;
  }
});

test.each([
  [['--port', 'x'], '--port'],
  [['--webhook-url', 'http://localhost:1'], 'must begin with https://'],
  [['--webhook-url', 'nothing'], 'is not a URL'],
  [['--webhook-url', 'https://localhost:1'], 'needs --webhook-ca-file'],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/nowhere.pem'], '/nowhere.pem: no such file'],
  [
    ['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/dev/null'],
    '/dev/null: is a device, not a regular file',
  ],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', 'package.json'], 'package.json holds no certificates'],
  [['--webhook-ca-file', 'package.json'], 'belongs to --webhook-url'],
])('%j is a usage error', async (args, message) => {
  const { output, ended } = start(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});
