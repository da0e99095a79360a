import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { runProgram } from '../io.ts';
import { ready, startAlone } from './running.ts';

const namespace = 'extensionconfig-webhook-system';
let sandbox: ReturnType<typeof startAlone>;
let kubeconfig: string;
let cluster: KubernetesClient;

beforeAll(async () => {
  sandbox = startAlone([]);
  kubeconfig = await ready(sandbox.output);
  cluster = connect(await loadKubeConfig({ kubeconfig }, {}), new AbortController().signal);
});
afterAll(async () => {
  sandbox.stop.abort();
  await sandbox.ended;
});

/** The ticks of `doctor`, one line each, and the exit code. */
async function doctor() {
  const { code, stdout } = await runProgram(['doctor', '--kubeconfig', kubeconfig, '--output', 'json']);
  const { ok, ticks } = JSON.parse(stdout) as { ok: boolean; ticks: Record<string, string>[] };
  expect(code).toBe(ok ? 0 : 1);
  // Whatever is wrong, there is something to do about it.
  expect(ticks.filter(({ result, remedy }) => (result === 'failed') !== (remedy !== undefined))).toEqual([]);
  return {
    code,
    ticks,
    failed: ticks.filter(({ result }) => result === 'failed').map((tick) => `${tick.check}: ${tick.message}`),
  };
}

const labels = { 'app.kubernetes.io/name': 'extensionconfig-webhook', 'app.kubernetes.io/component': 'serving' };

async function create(path: string, object: JsonObject, status?: JsonObject): Promise<void> {
  await cluster.request('POST', path, object);
  if (status !== undefined) {
    await cluster.request('PATCH', `${path}/${String((object.metadata as JsonObject).name)}/status`, { status });
  }
}

async function createPod(name: string, tag: string, isReady: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  const spec = { containers: [{ name: 'webhook', image: `webhook:${tag}` }] };
  await create(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name, labels }, spec }, { conditions });
}

async function createDeployment(where: string, name: string, gate: string): Promise<void> {
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'manager', image: 'x', args: [`--feature-gates=RuntimeSDK=${gate}`] }] },
  };
  await create(`/apis/apps/v1/namespaces/${where}/deployments`, {
    metadata: { name },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
}

const caSecret = `/api/v1/namespaces/${namespace}/secrets/extensionconfig-webhook-ca`;
const cronJob = `/apis/batch/v1/namespaces/${namespace}/cronjobs`;
const jobTemplate = {
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } } },
};

test('ticks everything, or says what is wrong and what to do', async () => {
  // Nothing but the webhook itself is installed in the sandbox, and doctor knows.
  const bare = await doctor();
  expect(bare).toMatchObject({ code: 0, failed: [] });
  expect(bare.ticks.filter(({ result }) => result === 'skipped').map(({ check }) => check)).toEqual([
    'sandbox',
    'rotation',
    'replicas',
    'feature gate',
  ]);

  await create(
    cronJob,
    { metadata: { name: 'extensionconfig-webhook-rotate' }, spec: { schedule: '17 * * * *', jobTemplate } },
    { lastSuccessfulTime: new Date().toISOString() },
  );
  await createPod('a', '1', true);
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: 'capi-system' } });
  await createDeployment(namespace, 'extensionconfig-webhook', 'true');
  await createDeployment('capi-system', 'capi-controller-manager', 'true');
  const well = await doctor();
  expect(well).toMatchObject({ code: 0, failed: [] });
  expect(new Set(well.ticks.map(({ result }) => result))).toEqual(new Set(['ok', 'skipped']));
  const text = await runProgram(['doctor', '--kubeconfig', kubeconfig]);
  expect(text.stdout).toContain('✓ reachable: the API server called the webhooks for a dry run\n');

  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const failure = { type: 'Failed', status: 'True', message: 'backoff limit' };
  await create(
    jobs,
    { metadata: { name: 'rotate-1', labels: { 'app.kubernetes.io/component': 'certificates' } }, ...jobTemplate },
    { conditions: [failure] },
  );
  const broken = await doctor();
  expect(broken.failed).toEqual(['rotation: Job rotate-1, the last one, failed: backoff limit']);
  expect(broken.ticks.find(({ result }) => result === 'failed')?.remedy).toContain(
    `kubectl -n ${namespace} logs job/rotate-1`,
  );
  // A later success ends the complaint.
  await create(
    jobs,
    { metadata: { name: 'rotate-2', labels: { 'app.kubernetes.io/component': 'certificates' } }, ...jobTemplate },
    { conditions: [{ type: 'Complete', status: 'True' }] },
  );
  expect((await doctor()).failed).toEqual([]);

  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/extensionconfig-webhook`;
  await cluster.request('PATCH', deployment, { spec: { replicas: 2 } });
  expect((await doctor()).failed).toEqual(['replicas: 1 of 2 pods are there']);
  await createPod('b', '2', false);
  await cluster.request('PATCH', `${cronJob}/extensionconfig-webhook-rotate`, { spec: { suspend: true } });
  await cluster.request('PATCH', `/apis/apps/v1/namespaces/capi-system/deployments/capi-controller-manager`, [
    { op: 'replace', path: '/spec/template/spec/containers/0/args', value: [] },
  ]);
  const validating = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/extensionconfig-webhook';
  const mutating = validating.replace('validating', 'mutating');
  const { webhooks } = await cluster.request('GET', validating);
  await cluster.request('PATCH', validating, { webhooks: [] });
  await cluster.request('POST', '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs', {
    metadata: { name: 'bad.name' },
    spec: { clientConfig: { url: 'https://nobody.invalid' } },
  });
  await cluster.request('PATCH', validating, { webhooks: webhooks as JsonObject[] });
  await cluster.request('PATCH', mutating, [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }]);
  await cluster.request('PATCH', caSecret, { data: { 'ca.key': null } });
  const { failed } = await doctor();
  expect(failed).toEqual([
    expect.stringMatching(/^reachable: the API server cannot call the webhook: .*failed calling webhook/),
    'certificate: the key of the CA is missing',
    'certificate: the caBundle of MutatingWebhookConfiguration/extensionconfig-webhook does not trust the serving certificate, so writes fail, or are not reviewed (failurePolicy: Ignore)',
    expect.stringMatching(/^rotation: CronJob .* is suspended, so certificates are not renewed: resume it$/),
    'replicas: b: not ready',
    'replicas: pods run webhook:1 and webhook:2',
    'feature gate: RuntimeSDK is off in Cluster API and on in the webhook: ExtensionConfigs do nothing',
    expect.stringMatching(/^audit: bad\.name: metadata\.name: /),
    expect.stringMatching(/^discovery: bad\.name is not discovered: /),
  ]);
});

test('explains one object', async () => {
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'clusters.cluster.x-k8s.io' },
    spec: {
      group: 'cluster.x-k8s.io',
      names: { plural: 'clusters', kind: 'Cluster' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1beta2',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  const condition = (type: string, status: string, message: string) => ({ type, status, reason: `Is${type}`, message });
  await vi.waitFor(() =>
    cluster.request('POST', '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters', {
      metadata: { name: 'one' },
      spec: {},
      status: {
        conditions: [
          condition('TopologyReconciled', 'False', 'waits for a hook'),
          condition('Available', 'True', ''),
          condition('RollingOut', 'True', '1 Machine'),
          condition('Deleting', 'False', ''),
        ],
      },
    }),
  );
  const explained = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram(['doctor', ...args, '--kubeconfig', kubeconfig]);
    return { code, text: `${stdout}${stderr}`.replaceAll(/\s+/g, ' ').trim() };
  };
  expect(await explained('cluster/default/one')).toEqual({
    code: 1,
    text: '✗ TopologyReconciled: IsTopologyReconciled: waits for a hook → extensionconfig-webhook plan --cluster default/one says what is under way ✓ Available: IsAvailable - RollingOut: IsRollingOut: 1 Machine',
  });
  expect((await explained('bad.name')).text).toMatch(/^✗ audit: bad\.name: metadata\.name: .* - handlers: no handlers/);
  expect(await explained('secret/extensionconfig-webhook-tls')).toMatchObject({ code: 1 });
  expect(await explained('nobody')).toMatchObject({
    code: 1,
    text: '✗ extensionconfig: there is no extensionconfig nobody in the cluster → check the name, the namespace and the context; of a Cluster, write cluster/NAMESPACE/NAME',
  });
  expect((await explained('Cluster/default/one')).text).toMatch(/^✗ TopologyReconciled/);
  expect(await explained('secret/other')).toMatchObject({ code: 2 });
  expect(await explained('cluster/one')).toMatchObject({ code: 2 });
  expect(await explained('extensionconfig/Bad_Name')).toMatchObject({ code: 2 });
  expect(await explained('bad.name', '--cluster-api-version', 'v9.9')).toEqual({
    code: 2,
    text: expect.stringMatching(
      /--cluster-api-version: "v9\.9" is not allowed: known are the releases .*newer version/,
    ),
  });
  for (const object of ['cluster/default/one', 'secret/extensionconfig-webhook-tls']) {
    expect(await explained(object, '--cluster-api-version', 'v1.14')).toEqual({
      code: 2,
      text: `extensionconfig-webhook: doctor: --cluster-api-version is about extensions, and ${object} is not one: leave out the flag or the object`,
    });
  }
});

test('an API server that does not answer is one failure', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'doctor-')), 'config');
  writeFileSync(file, readFileSync(kubeconfig, 'utf8').replace(/server: .*/, 'server: https://127.0.0.1:1'));
  const { code, stdout, stderr } = await runProgram(['doctor', '--kubeconfig', file]);
  rmSync(dirname(file), { recursive: true });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^extensionconfig-webhook: no answer from the API server .*check that it is running/);
});
