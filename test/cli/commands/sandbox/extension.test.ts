import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { V1Deployment } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startExtension } from '../../../../src/cli/commands/sandbox/extension.ts';
import { deployments, registerExtension } from '../../../../src/cli/commands/sandbox/extension-deployment.ts';
import { type RunningSandbox, startSandboxWithWebhook } from '../../../../src/cli/commands/sandbox/start.ts';
import { startInformer } from '../../../../src/kubernetes/client/index.ts';
import { type ApiClient, apiClient } from '../../../kubernetes/client/api-client.ts';
import { eventually } from '../../../sandbox/client.ts';
import { collectingLog } from '../../../server/running.ts';

const quiet = pino({ level: 'silent' });
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

/** Whether something listens on a port of loopback. */
async function listens(port = 0): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const running = { Available: 'True MinimumReplicasAvailable', Progressing: 'True NewReplicaSetAvailable' };
const scale = (value: number) => send('PATCH', deployment, [{ op: 'replace', path: '/spec/replicas', value }]);

test('the sample extension follows its Deployment', async () => {
  const { log, lines } = collectingLog('warn');
  const extension = await startExtension(sandbox, log, signal);
  const { port } = extension;
  expect(await listens(port)).toBe(true);
  expect(await status(({ readyReplicas }) => readyReplicas === 1)).toEqual(running);

  await scale(0);
  expect(await status(({ readyReplicas = 0 }) => readyReplicas === 0)).toEqual(running);
  expect(await listens(port)).toBe(false);
  // Only one replica is run, and clients that wait for more are told so.
  await scale(3);
  expect(await status(({ readyReplicas }) => readyReplicas === 1)).toEqual({
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'False ProgressDeadlineExceeded',
  });
  expect(await listens(port)).toBe(true);
  // The field that `kubectl rollout restart` changes.
  const socket = connect(extension.port ?? 0, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  const annotations = { 'kubectl.kubernetes.io/restartedAt': 'now' };
  await send('PATCH', deployment, [{ op: 'add', path: '/spec/template/metadata/annotations', value: annotations }]);
  await closed;
  await eventually(() => listens(port), Boolean);
  await extension.stop();
  expect(await listens(port)).toBe(false);
  expect(lines).toEqual([]);
});

test('a sample extension whose port is taken says so in its Deployment, and starts when the port is free', async () => {
  const { log, lines } = collectingLog('warn');
  const extension = await startExtension(sandbox, log, signal);
  await scale(0);
  await status(({ readyReplicas = 0 }) => readyReplicas === 0);
  const other = createServer().listen(extension.port, '127.0.0.1');
  await once(other, 'listening');
  await scale(1);
  const { status: found } = await eventually(
    () => send<V1Deployment>('GET', deployment),
    ({ status }) => status?.conditions?.some(({ message = '' }) => message.includes('EADDRINUSE')) === true,
  );
  expect(found?.readyReplicas).toBe(0);
  other.close();
  expect(await status(({ readyReplicas }) => readyReplicas === 1)).toEqual(running);
  await extension.stop();
  expect(lines[0]).toMatchObject({ msg: 'the sample extension does not follow its Deployment; retrying' });
});

test('a start that is aborted ends at once', async () => {
  const stopping = new AbortController();
  const informer = startInformer(sandbox.config, {
    path: deployments,
    resource: 'deployments.apps',
    onChange: () => stopping.abort(new Error('given up')),
  });
  await informer.synced;
  await expect(startExtension(sandbox, quiet, stopping.signal)).rejects.toThrow('given up');
  informer.stop();
});
