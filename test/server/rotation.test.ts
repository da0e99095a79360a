import { PassThrough } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/cli/index.ts';
import { loadKubeConfig } from '../../src/kubernetes/client/index.ts';
import { secretCertificates } from '../../src/webhook/certs/index.ts';
import {
  ApiServer,
  bundlesOf,
  namespace,
  putTargets,
  servingPath,
  targetFlags,
} from '../kubernetes/client/api-server.ts';
import { openTls, start, stopAll } from './running.ts';

test('a rotation with an overlap of three seconds fails no call, even without a watch', async () => {
  const api = await new ApiServer().start();
  onTestFinished(async () => {
    await stopAll();
    await api.stop();
  });
  api.forbidden.add(`WATCH ${servingPath.slice(0, servingPath.lastIndexOf('/'))}`);
  putTargets(api);
  const place = ['--namespace', namespace, '--kubeconfig', api.kubeconfig(), ...targetFlags];
  const certs = async (...args: string[]) => {
    const stderr = new PassThrough();
    const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} };
    const code = await run(['certs', ...args, ...place], { ...io, signal: new AbortController().signal });
    return { code, err: String(stderr.read() ?? '') };
  };
  expect(await certs('bootstrap')).toMatchObject({ code: 0 });
  const config = await loadKubeConfig({ kubeconfig: api.kubeconfig() });
  const server = await start({
    certificates: secretCertificates(config, namespace, 'extensionconfig-webhook-tls'),
  });
  const servername = `extensionconfig-webhook.${namespace}.svc`;
  const failures: string[] = [];
  const served = new Set<string>();
  let calls = 0;
  let trusted = { ca: '', secureContext: createSecureContext() };
  let done = false;
  const caller = async () => {
    while (!done) {
      // Like an API server: a new connection that trusts the target's current bundle.
      const [ca = ''] = bundlesOf(api.objects);
      if (ca !== trusted.ca) {
        trusted = { ca, secureContext: createSecureContext({ ca }) };
      }
      try {
        const socket = await openTls(server.webhookPort, { secureContext: trusted.secureContext, servername });
        served.add(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      } catch (error) {
        failures.push(String((error as NodeJS.ErrnoException).code));
      }
      calls++;
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
  };
  const calling = caller();
  const flags = ['--force', 'ca', '--wait', '--propagation-delay', '200ms', '--overlap', '3s'];
  expect(await certs('rotate', ...flags)).toMatchObject({ code: 0 });
  done = true;
  await calling;
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(15);
  expect(served.size).toBe(2);
});
