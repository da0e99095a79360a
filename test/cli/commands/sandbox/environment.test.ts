import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import { type Sandbox, startSandbox } from '../../../../src/sandbox/index.ts';
import { type ApiClient, apiClient } from '../../../kubernetes/client/api-client.ts';
import { ApiServer } from '../../../kubernetes/client/api-server.ts';
import { retryingClient, startEnvironment } from './environment.ts';

let sandbox: Sandbox;
let folder: string;
let send: ApiClient;

// An API server that does not know ExtensionConfig, like any other one.
beforeAll(async () => {
  sandbox = await startSandbox();
  folder = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, sandbox.kubeconfig, { mode: 0o600 });
  send = apiClient(await loadKubeConfig({ kubeconfig: file }));
  vi.stubEnv('E2E_KUBECONFIG', file);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
  await sandbox.stop();
});

const groupVersion = 'runtime.cluster.x-k8s.io/v1beta2';
const collection = `/apis/${groupVersion}/extensionconfigs`;

test('an API server in E2E_KUBECONFIG gets our webhook, and is restored afterwards', async () => {
  for (const round of ['first', 'second']) {
    const environment = await startEnvironment();
    const body = {
      apiVersion: groupVersion,
      kind: 'ExtensionConfig',
      metadata: { name: round },
      spec: { clientConfig: { url: 'http://extension.example.com/' } },
    };
    const sendToIt = apiClient(environment.config);
    await expect(sendToIt('POST', collection, body)).rejects.toMatchObject({ code: 422 });
    body.spec.clientConfig.url = 'https://extension.example.com/';
    await sendToIt('POST', collection, body);
    // An API server that serves ExtensionConfigs already is left alone.
    await expect(startEnvironment()).rejects.toThrow('the suite would delete them');
    await environment.stop();
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect(await send('GET', definitions)).toMatchObject({ items: [] });
  }
});

test.each<[string, number, number | undefined, number]>([
  ['a 503 with Retry-After is retried, as kubectl does', 503, 0, 2],
  ['a 503 without it is a failure', 503, undefined, 1],
])('%s', async (_name, code, retryAfterSeconds, requests) => {
  const server = await new ApiServer().start();
  onTestFinished(() => server.stop());
  const sendToIt = retryingClient(await loadKubeConfig({ kubeconfig: server.kubeconfig() }));
  server.retryAfterSeconds = retryAfterSeconds;
  server.faults.push(code);
  const answer = sendToIt('GET', '/api/v1/namespaces/default/secrets');
  await (retryAfterSeconds === undefined
    ? expect(answer).rejects.toMatchObject({ code })
    : expect(answer).resolves.toMatchObject({ items: [] }));
  expect(server.requests).toBe(requests);
});
