import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1MutatingWebhookConfigurationList, V1ValidatingWebhookConfigurationList } from '@kubernetes/client-node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually } from '../../../sandbox/client.ts';
import { ready, startAlone } from './running.ts';

test('prints a kubeconfig that only its owner can read, and leaves nothing behind', async () => {
  const { stop, output, ended } = startAlone([]);
  const file = await ready(output);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(output.out).toContain(`\nStopped. Everything in the sandbox is gone, and so is ${file}.\n`);
});

// Files left behind would hold a token. With a real signal: test/cli/commands/sandbox/process.test.ts.
test('stopped before it is ready, it leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const { stop, output, ended } = startAlone([]);
  await vi.waitUntil(() => readdirSync(folder).length > 0, { timeout: 30_000, interval: 1 });
  stop.abort('SIGINT');
  expect([await ended, output.err]).toEqual([130, expect.stringMatching(/^extensionconfig-webhook: interrupted$/m)]);
  expect(output.out).not.toContain('kubectl get');
  expect(readdirSync(folder)).toEqual([]);
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

test('writes its kubeconfig where scripts wait for it, and never over another file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scripts of me-'));
  const file = join(folder, 'kubeconfig');
  const { stop, output, ended } = startAlone(['--write', file]);
  await eventually(
    async () => readdirSync(folder),
    (files) => files.includes('kubeconfig'),
  );
  // Once it is there, everything is ready.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const send = apiClient(await loadKubeConfig({ kubeconfig: file }));
  const extensionConfigs = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  expect(await send('GET', extensionConfigs)).toMatchObject({ items: [] });
  const second = startAlone(['--write', file]);
  expect(await second.ended).toBe(2);
  expect(second.output.err).toContain(`--write: ${file} exists`);
  stop.abort();
  expect(await ended).toBe(0);
  expect(output.out).toContain(`  export KUBECONFIG='${file}'\n`);
  expect(readdirSync(folder)).toEqual([]);
  const nowhere = startAlone(['--write', join(folder, 'missing', 'kubeconfig')]);
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

test.each([[['--port', 'x'], '--port']])('%j is a usage error', async (args, message) => {
  const { output, ended } = startAlone(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});
