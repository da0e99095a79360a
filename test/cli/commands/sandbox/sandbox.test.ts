import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  KubeConfig,
  type V1MutatingWebhookConfigurationList,
  type V1ValidatingWebhookConfigurationList,
} from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { register, untilServed } from '../../../../src/cli/commands/sandbox/start.ts';
import { behindService } from '../../../../src/cli/commands/sandbox/webhook.ts';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../../../src/sandbox/index.ts';
import { day } from '../../../base/x509/entropy.ts';
import { oddCa, unreadableKeys } from '../../../base/x509/odd-ca.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually } from '../../../sandbox/client.ts';
import { ready, startAlone, startServing } from './running.ts';

test('prints a kubeconfig that only its owner can read, and leaves nothing behind', async () => {
  const { stop, output, ended } = startAlone([]);
  const file = await ready(output);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(output.out).toContain(`\nStopped. Everything in the sandbox is gone, and so is ${file}.\n`);
});

test('reports a port that is taken as serve does', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { output, ended } = startAlone(['--port', String(port)]);
  expect(await ended).toBe(1);
  expect(output.err).toContain(`port ${port} is in use: stop what listens there or choose another with --port`);
  taken.close();
});

test('calls a separate webhook server', async () => {
  const server = await startServing();
  const { url, caFile } = server;
  // Two concatenated files: API servers would find no certificate in it as a caBundle.
  const folder = mkdtempSync(join(tmpdir(), 'two-cas-'));
  const both = join(folder, 'ca.crt');
  const ca = readFileSync(caFile, 'utf8');
  writeFileSync(both, ca.trimEnd() + ca);
  const { stop, output, ended } = startAlone(['--webhook-url', url, '--webhook-ca-file', both]);
  try {
    const send = apiClient(await loadKubeConfig({ kubeconfig: await ready(output) }));
    expect(output.out).toContain(`its webhook: ${url}.`);
    const create = (extension: string) =>
      send('POST', '/apis/runtime.cluster.x-k8s.io/v1alpha1/extensionconfigs', {
        apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1',
        kind: 'ExtensionConfig',
        metadata: { name: 'hooks' },
        spec: { clientConfig: { url: extension } },
      });
    await expect(create('http://extension.example.com')).rejects.toMatchObject({ code: 422 });
    expect(await create('https://extension.example.com')).toMatchObject({ spec: { namespaceSelector: {} } });
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
    expect(await server.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  }
});

test('writes its kubeconfig where scripts wait for it, and never over another file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scripts of me-'));
  const file = join(folder, 'kubeconfig');
  const { stop, output, ended } = startAlone(['--write-kubeconfig', file]);
  await eventually(
    async () => readdirSync(folder),
    (files) => files.includes('kubeconfig'),
  );
  // Once it is there, everything is ready.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const send = apiClient(await loadKubeConfig({ kubeconfig: file }));
  const extensionConfigs = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  expect(await send('GET', extensionConfigs)).toMatchObject({ items: [] });
  const second = startAlone(['--write-kubeconfig', file]);
  expect(await second.ended).toBe(2);
  expect(second.output.err).toContain(`--write-kubeconfig: ${file} exists`);
  stop.abort();
  expect(await ended).toBe(0);
  expect(output.out).toContain(`  export KUBECONFIG='${file}'\n`);
  expect(readdirSync(folder)).toEqual([]);
  const nowhere = startAlone(['--write-kubeconfig', join(folder, 'missing', 'kubeconfig')]);
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.output.err).toContain(
    `the kubeconfig cannot be written: the folder ${join(folder, 'missing')} does not exist: create it`,
  );
  rmSync(folder, { recursive: true });
});

test('has the webhook configurations of the manifests, with a caBundle', async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const send = apiClient(await loadKubeConfig({ kubeconfig: await ready(output) }));
    const registrations = '/apis/admissionregistration.k8s.io/v1';
    const manifests = parseAllDocuments(readFileSync('manifests/base/webhooks.yaml', 'utf8')).map((document) =>
      document.toJS(),
    );
    const found = [
      ...(await send<V1MutatingWebhookConfigurationList>('GET', `${registrations}/mutatingwebhookconfigurations`))
        .items,
      ...(await send<V1ValidatingWebhookConfigurationList>('GET', `${registrations}/validatingwebhookconfigurations`))
        .items,
    ];
    expect(found).toMatchObject(manifests.map(({ metadata, webhooks }) => ({ metadata, webhooks })));
    for (const { webhooks } of found) {
      const ca = new X509Certificate(Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64'));
      // An RSA key takes a hundred times as long to generate: four of them delayed each start.
      expect([ca.ca, ca.publicKey.asymmetricKeyType]).toEqual([true, 'ec']);
    }
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
  [
    ['--webhook-url', 'https://localhost:1', '--webhook-ca-file', 'package.json'],
    'package.json contains no valid PEM certificates',
  ],
  [['--webhook-ca-file', 'package.json'], 'needs --webhook-url'],
])('%j is a usage error', async (args, message) => {
  const { output, ended } = startAlone(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});

const name = 'extensionconfigs.runtime.cluster.x-k8s.io';
const signal = new AbortController().signal;
const [[, keys]] = (await unreadableKeys()) as [Awaited<ReturnType<typeof unreadableKeys>>[number]];
const { pem: unreadable } = (await oddCa(new Date(), day, keys)).certificate;

/** An API server whose definition has these conditions, and that does not serve ExtensionConfigs. */
async function serverWith(conditions: object[]): Promise<KubeConfig> {
  const server = createHttpServer((request, response) => {
    const isDefinition = request.url?.startsWith('/apis/apiextensions.k8s.io/') ?? false;
    response.writeHead(isDefinition ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        isDefinition
          ? { status: { conditions } }
          : {
              kind: 'Status',
              apiVersion: 'v1',
              status: 'Failure',
              message: 'the server could not find the requested resource',
              code: 404,
            },
      ),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'test',
      server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      skipTLSVerify: true,
    },
    { name: 'test', token: 'test' },
  );
  return config;
}

test.each([
  ['without conditions', [], 'the definition is not established (it has no condition Established)'],
  [
    'that is not established',
    [
      {
        type: 'Established',
        status: 'False',
        reason: 'Installing',
        message: 'the initial names have not been accepted',
      },
    ],
    'the definition is not established (the initial names have not been accepted)',
  ],
  [
    'that is established, but not served',
    [{ type: 'Established', status: 'True' }],
    'the definition is established, but GET /apis/runtime.cluster.x-k8s.io/v1alpha1/extensionconfigs?limit=1 is answered with 404',
  ],
])('the wait for a definition %s ends', async (_what, conditions, missing) => {
  await expect(untilServed(await serverWith(conditions), signal, 50)).rejects.toThrow(
    `${name} is not served after 0.05 s: ${missing}; check the API server and start again`,
  );
});

test('a definition whose caBundle API servers do not read is not waited for', async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const config = new KubeConfig();
  config.loadFromString(sandbox.kubeconfig);
  await register(config, behindService(new URL('https://127.0.0.1:1'), unreadable), signal);
  await expect(untilServed(config, signal)).rejects.toThrow(
    `${name} is not served: The conversion webhook CABundle is invalid`,
  );
});

test('certificates of --webhook-ca-file that API servers do not read are a usage error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'unreadable-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'ca.crt');
  writeFileSync(file, unreadable);
  const { output, ended } = startAlone(['--webhook-url', 'https://localhost:1', '--webhook-ca-file', file]);
  expect(await ended).toBe(2);
  expect(output.err).toContain(
    `--webhook-ca-file: ${file}: certificate 1 has a key on secp256k1, which API servers cannot parse: use an RSA key`,
  );
});
