import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connect, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { runProgram } from '../../cli/commands/io.ts';
import { labObjects } from '../../cli/commands/lab-class.ts';
import { list } from '../../cli/commands/planning.ts';
import { compile, linkedProject, runTests } from '../../package/linked-project.ts';
import { readPage } from '../pages.ts';
import { startProject } from './projects.ts';

/** A project with the handlers of the example. */
async function exampleProject(): Promise<string> {
  const folder = await linkedProject(['BeforeClusterCreate']);
  writeFileSync(join(folder, 'src/handlers/index.ts'), readPage('docs/examples/k0s-updater.ts'));
  return folder;
}

/** The updates of two Machines, by whatever calls Cluster API makes. */
const updateTest = `
import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { createClusters } from 'cluster-api-extension';
import { callHandler, requestFor } from 'cluster-api-extension/testing';
import { handlers } from '../src/handlers/index.ts';

const update = handlers.find(({ hook }) => hook.name === 'UpdateMachine')!;
const plans = '/apis/autopilot.k0sproject.io/v1beta2/plans';
const { request } = await createClusters().management();

async function ask(name: string, version: string, bootstrapConfig?: object) {
  const sample = structuredClone(requestFor('UpdateMachine')) as any;
  Object.assign(sample.desired.machine.metadata, { namespace: 'default', name, labels: {} });
  Object.assign(sample.desired.machine.spec, { clusterName: 'f1', version });
  if (bootstrapConfig !== undefined) {
    sample.desired.bootstrapConfig = bootstrapConfig;
  }
  const { result, response } = await callHandler(update, sample);
  return [result, response.message ?? ''];
}
const commandOf = async () => ((await request('GET', plans)) as any).items[0].spec.commands[0].k0supdate;
const end = (state: string) => request('PATCH', plans + '/autopilot/status', { status: { state } });
const waits = ['blocking', 'the machine is being updated'];

test('one Machine after the other', async () => {
  deepStrictEqual(await ask('a', 'v1.33.1+k0s.0'), waits);
  const command = await commandOf();
  strictEqual(command.platforms['linux-arm'].url, 'https://get.k0sproject.io/v1.33.1+k0s.0/k0s-v1.33.1+k0s.0-arm');
  deepStrictEqual(command.targets, { workers: { discovery: { static: { nodes: ['a'] } } } });
  await end('SchedulableWait');
  deepStrictEqual(await ask('b', 'v1.33.1+k0s.0'), waits);
  deepStrictEqual((await commandOf()).targets.workers.discovery.static.nodes, ['a']);
  await end('Completed');
  deepStrictEqual(await ask('a', 'v1.33.1+k0s.0'), ['success', '']);
  deepStrictEqual(await ask('b', 'v1.33.1+k0s.0'), waits);
  deepStrictEqual((await commandOf()).targets.workers.discovery.static.nodes, ['b']);
});
test('a plan that fails is told once, and tried again', async () => {
  await end('IncompleteTargets');
  deepStrictEqual(await ask('b', 'v1.33.1+k0s.0'), [
    'failure',
    'the Autopilot plan ended as IncompleteTargets: see the Plan in the workload cluster',
  ]);
  deepStrictEqual(await ask('b', 'v1.33.1+k0s.0'), waits);
  await end('Completed');
});
test('an own download URL', async () => {
  await ask('c', 'v1.33.2+k0s.0', { kind: 'K0sWorkerConfig', spec: { downloadURL: 'https://k0s.example.com/k0s' } });
  strictEqual((await commandOf()).platforms['linux-amd64'].url, 'https://k0s.example.com/k0s');
});
`;

/** An API server that is management and workload cluster at once, with the kind Plan. */
async function apiServer(folder: string): Promise<string> {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const client = connect(await loadKubeConfig({ kubeconfig }), new AbortController().signal);
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'plans.autopilot.k0sproject.io' },
    spec: {
      group: 'autopilot.k0sproject.io',
      scope: 'Cluster',
      names: { kind: 'Plan', listKind: 'PlanList', plural: 'plans', singular: 'plan' },
      versions: [{ name: 'v1beta2', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  });
  await client.request('POST', '/api/v1/namespaces/default/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'f1-kubeconfig', namespace: 'default' },
    data: { value: Buffer.from(sandbox.kubeconfig).toString('base64') },
  });
  return kubeconfig;
}

test('the updater makes the plans of the original, for one Machine at a time', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  vi.stubEnv('KUBECONFIG', await apiServer(folder));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  writeFileSync(join(folder, 'test/update.test.ts'), updateTest);
  expect(await compile(folder)).toBe('');
  const stdout = await runTests(folder);
  expect(stdout).toMatch(/^ok \d+ - one Machine after the other$/m);
  expect(stdout).toMatch(/^ok \d+ - a plan that fails is told once, and tried again$/m);
  expect(stdout).toMatch(/^ok \d+ - an own download URL$/m);
});

test('it conforms, and a plan of an upgrade updates Machines in place', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  const config = await startProject(folder);
  const { code, stdout, stderr } = await runProgram(['conformance', '-f', config]);
  expect([code, stderr], stdout).toEqual([0, '']);
  const file = join(folder, 'objects.yaml');
  writeFileSync(file, list(labObjects()));
  const upgrade = ['plan', '-f', file, '--set-version', 'v1.33.1'];
  const replaced = await runProgram(upgrade);
  expect(replaced.stdout).toMatch(/md-0 .*replaces 3 Machines/);
  const updated = await runProgram([...upgrade, '-f', config]);
  expect(updated.stderr).toBe('');
  expect(updated.stdout).toMatch(/md-0 .*in place/);
});
