import type { V1Deployment, V1DeploymentList } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startExtension } from '../../../../src/cli/commands/sandbox/extension.ts';
import { deployments, registerExtension } from '../../../../src/cli/commands/sandbox/extension-deployment.ts';
import { type RunningSandbox, startSandboxWithWebhook } from '../../../../src/cli/commands/sandbox/start.ts';
import { type ApiClient, apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually } from '../../../sandbox/client.ts';
import { collectingLog } from '../../../server/running.ts';

const quiet = pino({ level: 'silent' });
const module = new URL('./extension-thread.ts', import.meta.url);
const deployment = '/apis/apps/v1/namespaces/sample-extension/deployments/sample-extension';
const { signal } = new AbortController();

let sandbox: RunningSandbox;
let send: ApiClient;
beforeAll(async () => {
  sandbox = await startSandboxWithWebhook({ port: 0, prepare: registerExtension }, quiet, signal);
  send = apiClient(sandbox.config);
});
afterEach(() => send('DELETE', deployment));
afterAll(() => sandbox?.stop());

/** Waits until the Deployment reports a status for its current spec. */
async function status(wanted: (status: NonNullable<V1Deployment['status']>) => boolean) {
  const { status: found } = await eventually(
    () => send<V1Deployment>('GET', deployment),
    ({ metadata, status }) => status?.observedGeneration === metadata?.generation && wanted(status ?? {}),
  );
  return Object.fromEntries((found?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

test('the sample extension follows its Deployment', async () => {
  const { log, lines } = collectingLog();
  const extension = await startExtension(sandbox, log, signal, module);
  expect(extension.port).toBe(12_345);
  const running = { Available: 'True MinimumReplicasAvailable', Progressing: 'True NewReplicaSetAvailable' };
  const scale = (replicas: number) => send('PATCH', deployment, [replace(replicas)]);
  const replace = (value: number) => ({ op: 'replace', path: '/spec/replicas', value });
  const messages = () => lines.map(({ msg }) => msg);

  // The first one exited by itself.
  await eventually(
    async () => messages(),
    (all) => all.filter((msg) => msg === 'it listens').length === 2,
  );
  expect(messages()).toContain('the sample extension exited and is being restarted');
  expect(await status(({ readyReplicas }) => readyReplicas === 1)).toEqual(running);

  await scale(0);
  expect(await status(({ readyReplicas = 0 }) => readyReplicas === 0)).toEqual(running);
  // Only one replica is run, and clients that wait for more are told so.
  await scale(3);
  expect(await status(({ readyReplicas }) => readyReplicas === 1)).toEqual({
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'False ProgressDeadlineExceeded',
  });
  // The field that `kubectl rollout restart` changes.
  const started = lines.length;
  const annotations = { 'kubectl.kubernetes.io/restartedAt': 'now' };
  const body = [{ op: 'add', path: '/spec/template/metadata/annotations', value: annotations }];
  await send('PATCH', deployment, body);
  await eventually(
    async () => lines.length,
    (count) => count > started,
  );
  await extension.stop();
  expect(lines.filter(({ level }) => level === 50)).toHaveLength(1);
});

test('a start that is aborted ends at once', async () => {
  const stopping = new AbortController();
  const neverListens = new URL('data:text/javascript,setInterval(() => {}, 60_000)');
  const starting = startExtension(sandbox, quiet, stopping.signal, neverListens);
  starting.catch(() => {});
  await eventually(
    () => send<V1DeploymentList>('GET', deployments),
    ({ items }) => items.length === 1,
  );
  stopping.abort(new Error('given up'));
  await expect(starting).rejects.toThrow('given up');
});
