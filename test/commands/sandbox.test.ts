import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { AdmissionregistrationV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { run } from '../../src/commands/index.ts';
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

test.each([
  [['--port', 'x'], '--port'],
  [['--webhook-url', 'http://localhost:1'], 'must begin with https://'],
  [['--webhook-url', 'nothing'], 'is no URL'],
  [['--webhook-url', 'https://localhost:1'], 'needs --webhook-ca-file'],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/nowhere.pem'], '/nowhere.pem: no such file'],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/dev/null'], '/dev/null holds no certificates'],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', 'package.json'], 'package.json holds no certificates'],
  [['--webhook-ca-file', 'package.json'], 'belongs to --webhook-url'],
])('%j is a usage error', async (args, message) => {
  const { output, ended } = start(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});
