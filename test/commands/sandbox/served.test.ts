import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import { register, untilServed } from '../../../src/commands/sandbox/start.ts';
import { behindService } from '../../../src/commands/sandbox/webhook.ts';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { day } from '../../x509/entropy.ts';
import { oddCa, unreadableKeys } from '../../x509/odd-ca.ts';
import { startAlone } from './running.ts';

const name = 'extensionconfigs.runtime.cluster.x-k8s.io';
const signal = new AbortController().signal;
const [[, keys]] = (await unreadableKeys()) as [Awaited<ReturnType<typeof unreadableKeys>>[number]];
const { pem: unreadable } = (await oddCa(new Date(), day, keys)).certificate;

/** An API server whose definition has these conditions, and that serves no ExtensionConfigs. */
async function serverWith(conditions: object[]): Promise<KubeConfig> {
  const server = createServer((request, response) => {
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
