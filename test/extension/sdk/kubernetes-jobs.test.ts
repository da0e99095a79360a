import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKubernetesJobs, handler, type KubernetesJobsOptions } from '../../../src/extension/index.ts';
import { callHandler, requestFor } from '../../../src/extension/sdk/testing/testing.ts';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';

let sandbox: Sandbox;
let client: KubernetesClient;
let kubeconfig: string;
const folder = mkdtempSync(join(tmpdir(), 'jobs-'));
const ended = new AbortController();
beforeAll(async () => {
  sandbox = await startSandbox();
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  client = connect(await loadKubeConfig({ kubeconfig }), ended.signal);
});
afterAll(async () => {
  ended.abort();
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

const template: JsonObject = {
  backoffLimit: 2,
  template: { spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'backup:1', env: [] }] } },
};

/** A replica of an extension, started anew: it remembers nothing. */
async function call(toKubernetesVersion: string, more: Partial<KubernetesJobsOptions> = {}) {
  const jobs = createKubernetesJobs({ namespace: 'default', template, kubeconfig, ...more });
  const wait = handler('BeforeClusterUpgrade', {
    name: 'wait',
    handle: (request, context) =>
      jobs.answer(context, {
        key: `${request.cluster.metadata?.uid} ${request.toKubernetesVersion}`,
        message: 'backups run',
        env: { VERSION: request.toKubernetesVersion },
        cluster: request.cluster,
      }),
  });
  const { result, response, lines } = await callHandler(
    wait,
    requestFor('BeforeClusterUpgrade', { toKubernetesVersion }),
  );
  return { answer: [result, response.message], lines };
}

const list = async (version: string): Promise<JsonObject[]> => {
  const { items } = await client.request('GET', '/apis/batch/v1/namespaces/default/jobs');
  return (items as JsonObject[]).filter((job) => JSON.stringify(job).includes(`"value":"${version}"`));
};
const path = (job: JsonObject) => `/apis/batch/v1/namespaces/default/jobs/${(job.metadata as JsonObject).name}`;
const end = (job: JsonObject, type: string) =>
  client.request('PATCH', `${path(job)}/status`, {
    status: {
      startTime: '2026-01-01T00:00:00Z',
      conditions: [
        { type: type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', status: 'True' },
        { type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
      ...(type === 'Complete' && { completionTime: '2026-01-01T00:00:00Z' }),
    },
  });

const blocking = ['blocking', 'backups run'];

test('each key is one Job, whichever replicas are asked, and its status is the answer', async () => {
  const answers = await Promise.all([call('v1.40.0'), call('v1.40.0'), call('v1.40.0')]);
  expect(answers.map(({ answer }) => answer)).toEqual([blocking, blocking, blocking]);
  const [job, ...others] = await list('v1.40.0');
  expect(others).toEqual([]);
  expect(job).toMatchObject({
    metadata: {
      name: (job?.metadata as JsonObject).name,
      labels: { 'cluster.x-k8s.io/cluster-name': 'example' },
      ownerReferences: [{ kind: 'Cluster', name: 'example', uid: '227d048d-691e-418b-a2cb-736154635d0a' }],
    },
    spec: {
      backoffLimit: 2,
      ttlSecondsAfterFinished: 86_400,
      template: { spec: { containers: [{ env: [{ name: 'VERSION', value: 'v1.40.0' }] }] } },
    },
  });
  await end(job!, 'Complete');
  expect((await call('v1.40.0')).answer).toEqual(['success', undefined]);
  expect((await call('v1.40.0')).answer).toEqual(['success', undefined]);
  expect((await call('v1.41.0')).answer).toEqual(blocking);
});

test('a Job that fails is a Failure with the message of its Pod, once; the next call creates another', async () => {
  await call('v1.50.0');
  const [job] = await list('v1.50.0');
  const name = (job?.metadata as JsonObject).name as string;
  await client.request('POST', '/api/v1/namespaces/default/pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${name}-x`, labels: { 'batch.kubernetes.io/job-name': name } },
    spec: { containers: [{ name: 'backup', image: 'backup:1' }] },
  });
  await client.request('PATCH', `/api/v1/namespaces/default/pods/${name}-x/status`, {
    status: {
      phase: 'Failed',
      containerStatuses: [
        {
          ...{ name: 'backup', image: 'backup:1', imageID: '', ready: false, restartCount: 0 },
          state: { terminated: { exitCode: 1, message: 'no space left' } },
        },
      ],
    },
  });
  await end(job!, 'Failed');
  expect((await call('v1.50.0')).answer).toEqual(['failure', 'no space left']);
  expect((await call('v1.50.0')).answer).toEqual(blocking);
  const attempts = await list('v1.50.0');
  expect(attempts.map(({ metadata }) => (metadata as JsonObject).name)).toEqual([name, name.replace(/0$/, '1')]);
  await end(attempts[1]!, 'Complete');
  expect((await call('v1.50.0')).answer).toEqual(['success', undefined]);
});

test('a replica that was killed before its answer arrived leaves nothing behind that blocks for ever', async () => {
  await call('v1.55.0');
  const [job] = await list('v1.55.0');
  await end(job!, 'Failed');
  // Killed after it noted that the failure is reported.
  const annotations = { 'cluster-api-extension/failure-reported': 'true' };
  await client.request('PATCH', path(job!), { metadata: { annotations } });
  expect((await call('v1.55.0')).answer).toEqual(blocking);
  expect(await list('v1.55.0')).toHaveLength(2);
});

test('a refused request is a fault of the handler, with the reason in the log', async () => {
  const { answer, lines } = await call('v1.60.0', { namespace: 'missing' });
  expect(answer).toEqual(['error', 'handler wait failed: see the log of the extension']);
  expect(lines.at(-1)?.message).toContain('missing');
});

test.each([
  [{ retryAfterSeconds: 0 }, 'retryAfterSeconds: 0 is not a whole number of at least 1'],
  [{ keepSeconds: 5 }, 'keepSeconds: 5 is not a whole number of at least 10'],
])('%j is refused', (more, message) => {
  expect(() => createKubernetesJobs({ namespace: 'a', template, ...more })).toThrow(new RangeError(message));
});
