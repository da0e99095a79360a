import { once } from 'node:events';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { expect, test } from 'vitest';
import { runCertificates } from '../../src/certs/index.ts';
import { ApiServer, bundlesOf, namespace, putTargets, servingPath, valueIn } from '../cluster/api-server.ts';
import { overHttp, runFor } from './machine.ts';

const clock = { now: () => new Date(), sleep: (ms: number) => sleep(ms) };

test('no connection fails when serving certificate and CA are rotated under load', async () => {
  const server = await new ApiServer().start();
  putTargets(server);
  await runCertificates(runFor(server, clock, { mode: 'repair' }, {}, overHttp(server)));
  const secret = () => server.objects.get(servingPath);
  const pair = () => ({ cert: valueIn(secret(), 'tls.crt'), key: valueIn(secret(), 'tls.key') });
  const pod = createServer(pair(), (_request, response) => response.end('ok'));
  pod.listen(0, '127.0.0.1');
  await once(pod, 'listening');
  const { port } = pod.address() as AddressInfo;
  let served = pair().cert;
  server.after = ({ path }) => {
    if (path === servingPath && pair().cert !== served) {
      served = pair().cert;
      pod.setSecureContext(pair());
    }
    return 'answer';
  };

  /** For each bundle: its TLS settings, which take as long as a handshake to read, and connections that stay open. */
  const trusting = new Map<string, { secureContext: SecureContext; kept: Agent }>();
  let count = 0;
  const failures: string[] = [];
  /** One call as the API server makes it: it trusts the bundle in the target at this moment. */
  async function call(index: number): Promise<void> {
    const bundles = bundlesOf(server.objects);
    const ca = bundles[index % bundles.length]!;
    let trust = trusting.get(ca);
    if (trust === undefined) {
      const secureContext = createSecureContext({ ca });
      trust = { secureContext, kept: new Agent({ keepAlive: true, secureContext }) };
      trusting.set(ca, trust);
    }
    const agent = index % 2 === 0 ? trust.kept : new Agent({ secureContext: trust.secureContext });
    const host = `extensionconfig-webhook.${namespace}.svc`;
    await new Promise<void>((resolve) => {
      const sent = request({ port, host: '127.0.0.1', servername: host, headers: { host }, agent }, (response) => {
        response.resume().once('end', resolve);
        count++;
      });
      sent.once('error', (error) => {
        failures.push(String((error as NodeJS.ErrnoException).code ?? error.message));
        resolve();
      });
      sent.end();
    });
  }
  let going = true;
  const load = Promise.all(
    [0, 1, 2].map(async (worker) => {
      for (let index = worker; going; index++) {
        await call(index);
        await sleep(10);
      }
    }),
  );
  const settings = { propagationDelayMs: 150, overlapMs: 300 };
  const before = served;
  await runCertificates(runFor(server, clock, { ...settings, force: true }, {}, overHttp(server)));
  expect(served).not.toBe(before);
  await runCertificates(runFor(server, clock, { ...settings, forceCa: true }, {}, overHttp(server)));
  going = false;
  await load;
  for (const { kept } of trusting.values()) {
    kept.destroy();
  }
  pod.close();
  pod.closeAllConnections();
  await server.stop();
  expect(failures).toEqual([]);
  expect(count).toBeGreaterThan(50);
});
