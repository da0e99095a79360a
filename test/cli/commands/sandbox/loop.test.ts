import { once } from 'node:events';
import { connect } from 'node:tls';
import type { V1Service } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually } from '../../../sandbox/client.ts';
import { runProgram } from '../io.ts';
import { ready, start } from './running.ts';

const extensionConfigs = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';

interface Status {
  conditions?: { type: string; status: string }[];
}

/** The objects of a sandbox, read with its kubeconfig. */
async function objectsOf(kubeconfig: string) {
  const send = apiClient(await loadKubeConfig({ kubeconfig }));
  const statusOf = async (name: string) =>
    (await send<{ status?: Status }>('GET', `${extensionConfigs}/${name}`)).status;
  const discovered = (name: string, wanted: 'True' | 'False') =>
    eventually(
      () => statusOf(name),
      (status) => status?.conditions?.some(({ type, status }) => type === 'Discovered' && status === wanted) === true,
    );
  return { send, statusOf, discovered };
}

test("the controller discovers a user's own extensions, too", async () => {
  const { stop, output, ended } = start([]);
  try {
    const { send, discovered } = await objectsOf(await ready(output));
    // Its server does not exist.
    await send('POST', extensionConfigs, {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name: 'own' },
      spec: { clientConfig: { url: 'https://127.0.0.1:1' } },
    });
    await discovered('own', 'False');
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
});

/** The serial number of the certificate that a server on loopback presents. */
async function serialAt(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

test('the sample extension uses the certificate in its Secret', async () => {
  const { stop, output, ended } = start([]);
  try {
    const kubeconfig = await ready(output);
    const { send } = await objectsOf(kubeconfig);
    await eventually(
      async () => output.out,
      (text) => text.includes('The sample extension is listening.'),
    );
    const { metadata } = await send<V1Service>('GET', `/api/v1/namespaces/sample-extension/services/sample-extension`);
    const port = Number(metadata?.annotations?.['extensionconfig-webhook/reached-at']?.split(':')[1]);
    const serial = await serialAt(port);
    const names = [
      '--namespace',
      'sample-extension',
      '--service',
      'sample-extension',
      '--secret',
      'sample-extension-tls',
    ];
    const rotate = ['certs', 'rotate', '--force', 'serving', ...names, '--ca-secret', 'sample-extension-ca'];
    expect(await runProgram([...rotate, '--kubeconfig', kubeconfig])).toMatchObject({ code: 0 });
    await eventually(
      () => serialAt(port),
      (now) => now !== serial,
    );
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
});

test('--no-extension leaves out the sample extension and the controller', async () => {
  const { stop, output, ended } = start(['--no-extension']);
  try {
    const { send } = await objectsOf(await ready(output));
    expect(await send('GET', extensionConfigs)).toMatchObject({ items: [] });
    expect(output.out).not.toContain('Discovered');
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
  }
});
