import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiextensionsV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { startEnvironment } from './environment.ts';

let sandbox: Sandbox;
let folder: string;
const config = new KubeConfig();

// An API server that does not know ExtensionConfig, like any other one.
beforeAll(async () => {
  // Like a kube-apiserver, it asks clients to retry right after the definition is created.
  sandbox = await startSandbox({ initializing: 300 });
  folder = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, sandbox.kubeconfig, { mode: 0o600 });
  config.loadFromFile(file);
  vi.stubEnv('E2E_KUBECONFIG', file);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await sandbox.stop();
});

const resource = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', plural: 'extensionconfigs' };

test('an API server in E2E_KUBECONFIG gets our webhook, and is restored afterwards', async () => {
  for (const round of ['first', 'second']) {
    const environment = await startEnvironment();
    const body = {
      apiVersion: `${resource.group}/${resource.version}`,
      kind: 'ExtensionConfig',
      metadata: { name: round },
      spec: { clientConfig: { url: 'http://extension.example.com/' } },
    };
    const objects = environment.config.makeApiClient(CustomObjectsApi);
    await expect(objects.createClusterCustomObject({ ...resource, body })).rejects.toMatchObject({ code: 422 });
    body.spec.clientConfig.url = 'https://extension.example.com/';
    await objects.createClusterCustomObject({ ...resource, body });
    // An API server that serves ExtensionConfigs already is left alone.
    await expect(startEnvironment()).rejects.toThrow('the suite would delete them');
    await environment.stop();
    const { items } = await config.makeApiClient(ApiextensionsV1Api).listCustomResourceDefinition();
    expect(items).toEqual([]);
  }
});
