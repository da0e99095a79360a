import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { loadKubeConfig } from '../../src/certs/index.ts';
import { secretCertificates } from '../../src/server/index.ts';
import { ApiServer, namespace, servingPath } from '../certs/api-server.ts';
import { localhost, type TestCertificate, testCa } from './certificates.ts';
import { openTls, start, stopAll } from './running.ts';

const name = 'extensionconfig-webhook-tls';
const api = await new ApiServer().start();
afterEach(async () => {
  await stopAll();
  await api.stop();
});

const encode = (text: string) => Buffer.from(text).toString('base64');
const put = ({ cert, key }: TestCertificate, bundle: string) =>
  api.put(servingPath, {
    metadata: { name },
    data: { 'tls.crt': encode(cert), 'tls.key': encode(key), 'ca.crt': encode(bundle) },
  });

test('serves what the Secret holds, keeps it while the Secret is broken, and tells the stage', async () => {
  const config = loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const server = await start({ certificates: secretCertificates(config, namespace, name) });
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
