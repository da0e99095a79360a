import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { runProgram } from '../io.ts';
import { ready, startAlone } from './running.ts';

let sandbox: ReturnType<typeof startAlone>;
let kubeconfig: string;

const group = 'clusterctl.cluster.x-k8s.io';
const definition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `providers.${group}` },
  spec: {
    group,
    names: { plural: 'providers', kind: 'Provider', singular: 'provider', listKind: 'ProviderList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha3',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** A provider in the inventory that clusterctl keeps. */
const provider = (providerName: string, type: string, version: string): JsonObject => ({
  apiVersion: `${group}/v1alpha3`,
  kind: 'Provider',
  metadata: { name: `${providerName}-${type.toLowerCase()}`, namespace: 'default' },
  providerName,
  type,
  version,
});

beforeAll(async () => {
  sandbox = startAlone([]);
  kubeconfig = await ready(sandbox.output);
  const client = connect(await loadKubeConfig({ kubeconfig }, {}), new AbortController().signal);
  await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  for (const one of [
    provider('cluster-api', 'CoreProvider', 'v1.11.4'),
    provider('rke2', 'BootstrapProvider', 'v0.25.0'),
    provider('rke2', 'ControlPlaneProvider', 'v0.24.1'),
  ]) {
    await client.request('POST', `/apis/${group}/v1alpha3/namespaces/default/providers`, one);
  }
});
afterAll(async () => {
  sandbox.stop.abort();
  await sandbox.ended;
});

test('doctor names the upgrades that are known to replace Machines', async () => {
  const args = ['doctor', '--kubeconfig', kubeconfig, '--cluster-api-version', 'v1.12', '--output', 'json'];
  const { ticks } = JSON.parse((await runProgram(args)).stdout) as { ticks: { result: string; message: string }[] };
  const known = ticks.filter(({ message }) => / replaces? Machines/.test(message));
  expect(known.map(({ result, message }) => `${result} ${message.split(':')[0]}`)).toEqual([
    expect.stringContaining('warning v1.12.0 to v1.13.5, and v1.14.0, replace Machines'),
    'note rke2 v0.24.1 is installed',
  ]);
});
