import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import type { CertificateEvent } from '../../../src/server/index.ts';
import { secretCertificates } from '../../../src/webhook/certs/index.ts';
import { localhost, type TestCertificate, testCa } from '../../base/x509/certificates.ts';
import { ApiServer, namespace, servingPath } from '../../kubernetes/client/api-server.ts';
import { openTls, pairOf, start, stopAll } from '../../server/running.ts';

const name = 'extensionconfig-webhook-tls';
let api: ApiServer;
beforeEach(async () => {
  api = await new ApiServer().start();
});
afterEach(async () => {
  await stopAll();
  await api.stop();
});

const certificatesOf = (config: KubeConfig, options = {}) => secretCertificates(config, namespace, name, options);
const encode = (text: string) => Buffer.from(text).toString('base64');
const put = ({ cert, key }: TestCertificate, bundle: string) =>
  api.put(servingPath, {
    metadata: { name },
    data: { 'tls.crt': encode(cert), 'tls.key': encode(key), 'ca.crt': encode(bundle) },
  });

test("serves the Secret's certificate, keeps it while the Secret is broken, and reports the stage", async () => {
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const server = await start({ certificates: certificatesOf(config) });
  const ready = async () => (await fetch(`${server.health}/readyz`)).status;
  const metrics = async () => (await fetch(`${server.health}/metrics`)).text();
  expect(await ready()).toBe(503);

  put(localhost, testCa.cert);
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 20_000, interval: 20 });
  const socket = await openTls(server.webhookPort);
  const peer: PeerCertificate = socket.getPeerCertificate();
  expect(peer.fingerprint256).toBe(new X509Certificate(localhost.cert).fingerprint256);
  socket.destroy();
  expect(await metrics()).toContain('extensionconfig_webhook_certificate_stage{stage="steady"} 1');
  expect(await metrics()).toMatch(/extensionconfig_webhook_authority_not_after_timestamp_seconds \d+/);

  put({ ...localhost, key: 'broken' }, testCa.cert);
  await vi.waitFor(
    async () =>
      expect(await metrics()).toContain('extensionconfig_webhook_certificate_reloads_total{result="failure"} 1'),
    { timeout: 20_000, interval: 20 },
  );
  expect(await ready()).toBe(200);
});

const collection = servingPath.slice(0, servingPath.lastIndexOf('/'));
const within = { timeout: 20_000, interval: 20 };

test('a forbidden watch is logged as an error, counted, and shown; the certificate is served nevertheless', async () => {
  api.forbidden.add(`WATCH ${collection}`);
  put(localhost, testCa.cert);
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const pace = { minRetryMs: 20, maxRetryMs: 20 };
  const server = await start({ certificates: certificatesOf(config, { pace }) });
  const verbose = async () => (await fetch(`${server.health}/readyz?verbose`)).text();
  const problem = `the permission to watch secrets ${namespace}/${name} is missing`;
  await vi.waitFor(async () => expect(await verbose()).toContain(problem), within);
  expect(await verbose()).toMatch(/\[!\]certificate-source degraded: .*allow list and watch on it/);
  expect((await fetch(`${server.health}/readyz`)).status).toBe(200);
  expect(server.lines.filter(({ level }) => level === 50)).toMatchObject([
    { reason: expect.stringContaining(problem), msg: expect.stringContaining('source of certificates fails') },
  ]);
  const metrics = async () => (await fetch(`${server.health}/metrics`)).text();
  expect(await metrics()).toContain('certificate_source_failures_total 1\n');
  expect(await metrics()).toContain('certificate_source_up 0\n');
  api.forbidden.clear();
  await vi.waitFor(async () => expect(await verbose()).toContain('[+]certificate-source ok'), within);
  expect(await metrics()).toContain('certificate_source_up 1\n');
  expect(server.lines).toContainEqual(expect.objectContaining({ msg: 'the source of certificates works again' }));
});

test('an unresponsive API server does not prevent the server from starting and stopping', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  config.clusters = [{ ...config.getCurrentCluster()!, server: url }];
  const began = performance.now();
  const server = await start({ certificates: certificatesOf(config, { waitMs: 100 }) });
  expect(performance.now() - began).toBeGreaterThanOrEqual(99);
  const answer = await fetch(`${server.health}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, 'no serving certificate: not read yet\n']);
  await server.stop({ timeoutMs: 100 });
  expect(performance.now() - began).toBeLessThan(60_000);
  silent.closeAllConnections();
  silent.close();
});

test('reports the state of the Secret: absent, a pair with its trust bundle, broken; and nothing after the end', async () => {
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const events: CertificateEvent[] = [];
  const stop = await certificatesOf(config)((event) => events.push(event));
  // While the watch works, it need not be reported.
  const told = () => events.filter(({ kind }) => kind !== 'source');
  await vi.waitFor(() => expect(told()).toHaveLength(1), within);
  expect(told()[0]).toEqual({ kind: 'absent', reason: expect.stringContaining(`${namespace}/${name}`) });
  put(localhost, testCa.cert);
  await vi.waitFor(() => expect(told()).toHaveLength(2), within);
  expect(told()[1]).toEqual({ kind: 'pair', pair: pairOf(localhost), bundle: testCa.cert });
  put({ ...localhost, key: testCa.key }, testCa.cert);
  await vi.waitFor(() => expect(told()).toHaveLength(3), within);
  expect(told()[2]).toEqual({
    kind: 'broken',
    reason: `tls.crt and tls.key in Secret ${namespace}/${name}: the key does not belong to the certificate`,
  });
  stop();
  const { length } = events;
  put(localhost, testCa.cert);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(events).toHaveLength(length);
});

test('the wait for the first event keeps the process no longer than until it comes', async () => {
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const began = performance.now();
  const stop = await certificatesOf(config, { waitMs: 600_000 })(() => {});
  expect(performance.now() - began).toBeLessThan(60_000);
  stop();
});
