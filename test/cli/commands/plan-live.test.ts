import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import {
  itemsAt,
  type Json,
  type JsonObject,
  nameOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { groupsOf, type RecordedChange } from '../../topology/recorded.ts';
import { runProgram } from './io.ts';
import { pathOf, refusal, startProxy, store } from './live-cluster.ts';
import { foldersOf, list, named, noMachines, startRecorded } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-live-'));
const kubeconfig = join(folder, 'kubeconfig');
const ended = new AbortController();
let sandbox: Sandbox;
let client: KubernetesClient;

async function start(change: RecordedChange): Promise<void> {
  sandbox = await startSandbox();
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  client = connect(await loadKubeConfig({ kubeconfig }), ended.signal);
  await store(client, change.before);
}

const startForbidding = async (of: Sandbox, forbidden: string): Promise<string> => {
  const { file } = await startProxy(of, folder, ({ path }) =>
    path.includes(forbidden)
      ? refusal(403, `${forbidden} is forbidden: User "guest" cannot list it at the cluster scope`)
      : undefined,
  );
  return file;
};

const plan = (...args: string[]) => runProgram(['plan', '--kubeconfig', kubeconfig, ...args]);

afterAll(() => {
  ended.abort();
  rmSync(folder, { recursive: true });
});

describe('a change that an extension decides', () => {
  const change = named('I1-bootstrap-of-cp');
  beforeAll(() => start(change));
  afterAll(() => sandbox.stop());

  test('what will happen, against the cluster', async () => {
    const { to } = foldersOf(folder, change, ...(await startRecorded(change)));
    const args = ['-f', to, '--cluster-api-version', 'v1.13', '-o', 'json'];
    const { stdout, stderr } = await plan(...args);
    expect({ groups: groupsOf(JSON.parse(stdout) as Plan), stderr }).toEqual({ groups: change.expected, stderr: '' });
  });
});

describe('one cluster', () => {
  beforeAll(() => start(named('upgrade-1.35')));
  afterAll(() => sandbox.stop());

  test('--set-version without files', async () => {
    const { stdout, code } = await plan('--set-version', 'v1.35.0', '-o', 'json');
    expect({ sum: (JSON.parse(stdout) as Plan).sum, code }).toEqual({
      sum: { ...noMachines, clusters: 1, machines: 8, replaced: 8 },
      code: 0,
    });
  });

  test('nothing changes: what is under way, in the words of conditions', async () => {
    const [machine] = named('upgrade-1.35').before.filter(({ kind }) => kind === 'Machine');
    const cluster = named('upgrade-1.35').before.find(({ kind }) => kind === 'Cluster')!;
    const message =
      'Drain not completed yet: * Pod default/db: cannot evict pod as it would violate its disruption budget';
    const conditions = (type: string, status: string) => [
      { type, status, reason: 'Reason', message, lastTransitionTime: '2026-11-24T12:00:00Z' },
    ];
    for (const [object, status] of [
      [machine!, conditions('Deleting', 'True')],
      [cluster, conditions('TopologyReconciled', 'False')],
    ] as const) {
      await client.request('PATCH', `${pathOf(object)}/${nameOf(object)}`, { status: { conditions: status } });
    }
    const { stdout, code } = await plan();
    const text = stdout.replaceAll(/\n +/g, ' ');
    expect(text).toContain(`! Machine ${nameOf(machine!)} is being deleted: ${message}`);
    expect(text).toContain(`! TopologyReconciled is False (Reason): ${message}`);
    expect(text).toContain('0 of 8 Machines are replaced');
    expect(code).toBe(0);
  });

  test('-n and -l narrow what is read; if nothing is left, that is a failure', async () => {
    for (const [args, reason] of [
      [['-n', 'other'], '-n names the namespace other'],
      [['-l', 'stage=production'], '-l selects stage=production'],
    ] as const) {
      const { code, stdout, stderr } = await plan(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(`no Cluster is left: ${reason}`);
    }
  });

  test.each([
    ['/kubeadmcontrolplanes?', 'kubeadmcontrolplanes.controlplane.cluster.x-k8s.io (all)', []],
    ['/machines?', 'machines.cluster.x-k8s.io (all)', []],
    [
      '/namespaces/default/devmachinetemplates?',
      'devmachinetemplates.infrastructure.cluster.x-k8s.io in namespace default',
      ['-n', 'default'],
    ],
  ])('what may not be read is not known, with the missing permission: %s', async (path, missing, narrowed) => {
    const forbidden = await startForbidding(sandbox, path);
    const { stdout, stderr, code } = await runProgram([
      'plan',
      ...['--kubeconfig', forbidden, '--set-version', 'v1.35.0', '-o', 'json'],
      ...narrowed,
    ]);
    const [{ groups }] = (JSON.parse(stdout) as Plan).clusters as [Plan['clusters'][number]];
    expect(groups.map(({ verdict, machines }) => [verdict, machines.replaced])).toEqual(
      groups.map(() => ['unknown', 0]),
    );
    expect(stderr).toContain(`the permission to list ${missing} is missing`);
    expect(code).toBe(1);
  });

  test('a class that may not be read is not said to be missing', async () => {
    const forbidden = await startForbidding(sandbox, '/clusterclasss?');
    const { stderr, code } = await runProgram(['plan', '--kubeconfig', forbidden, '--set-version', 'v1.35.0']);
    expect(stderr).toContain('the permission to list clusterclasss.cluster.x-k8s.io (all) is missing');
    expect(stderr).not.toContain('is not among the objects');
    expect(code).toBe(1);
  });

  test('Clusters that may not be listed: one line', async () => {
    const forbidden = await startForbidding(sandbox, '/clusters?');
    const { stderr, code } = await runProgram(['plan', '--kubeconfig', forbidden]);
    expect(stderr).toMatch(
      /^extensionconfig-webhook: forbidden: the permission to list clusters\.cluster\.x-k8s\.io \(all\) is missing .*\n$/,
    );
    expect(code).toBe(1);
  });

  describe('dry runs', () => {
    beforeAll(async () => {
      // As a provider's webhook or schema would: a field that nobody writes has a default.
      const path =
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/devmachinetemplates.infrastructure.cluster.x-k8s.io';
      const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      const within = (name: string, schema: object) => ({ ...open, properties: { [name]: schema } });
      const size = { type: 'string', default: 'small', maxLength: 10 };
      const schema = within('spec', within('template', within('spec', within('size', size))));
      const [version] = objectsAt(await client.request('GET', path), 'spec', 'versions');
      const versions = [{ ...version, schema: { openAPIV3Schema: schema } }] as unknown as Json;
      await client.request('PATCH', path, { spec: { versions } });
    });

    /** The class with another template, which is as the one before but for a size. */
    const planned = async (size: string | undefined, ...args: string[]) => {
      const objects = structuredClone(named('upgrade-1.35').before);
      const fleet = objects.find(
        (object) => object.kind === 'ClusterClass' && nameOf(object) === 'fleet',
      ) as JsonObject;
      const [workerClass] = objectsAt(fleet, 'spec', 'workers', 'machineDeployments');
      const reference = objectAt(workerClass, 'infrastructure', 'templateRef');
      const template = objects.find(
        (object) => object.kind === reference.kind && nameOf(object) === reference.name,
      ) as JsonObject;
      reference.name = 'another';
      objectAt(template, 'metadata').name = 'another';
      Object.assign(objectAt(template, 'spec', 'template', 'spec'), size === undefined ? {} : { size });
      const file = join(folder, 'another.yaml');
      writeFileSync(file, list([fleet, template]));
      const { stdout } = await plan('-f', file, '-o', 'json', ...args);
      const [cluster] = (JSON.parse(stdout) as Plan).clusters;
      return { verdicts: cluster?.groups.map(({ verdict }) => verdict), problems: JSON.stringify(cluster?.problems) };
    };

    test('a value that is the default anyway replaces nothing', async () => {
      expect((await planned('small')).verdicts).not.toContain('replaced');
      expect((await planned(undefined)).verdicts).not.toContain('replaced');
      expect((await planned(undefined, '--dry-run', 'none')).verdicts).toContain('replaced');
      expect((await planned('large')).verdicts).toContain('replaced');
    });

    test('what the API server refuses is said in its words', async () => {
      const { verdicts, problems } = await planned('much too large');
      expect(problems).toContain('spec.template.spec.size: Too long: may not be more than 10 bytes');
      expect(verdicts).not.toContain('replaced');
    });
  });
});

test('a cluster without Cluster API', async () => {
  sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const { stderr, code } = await plan();
  expect(stderr).toBe(
    'extensionconfig-webhook: the API server has no Clusters of cluster.x-k8s.io: install Cluster API, or name another kubeconfig\n',
  );
  expect(code).toBe(1);
});

/** A release of an extension that adds commands to the Machines of md-0. */
async function startRelease(commands: readonly string[]): Promise<JsonObject> {
  const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'GeneratePatches' };
  const isOfWorkers = (item: JsonObject) =>
    textAt(item, 'object', 'kind') === 'KubeadmConfigTemplate' &&
    JSON.stringify(item).includes('"topologyName":"md-0"');
  const server = await startExtension(({ url, body }) => {
    if (url.includes('/discovery')) {
      return { status: 'Success', handlers: [{ name: 'generatepatches', requestHook }] };
    }
    const items = objectsAt(JSON.parse(body), 'items').filter(isOfWorkers);
    const patch = [{ op: 'add', path: '/spec/template/spec/preKubeadmCommands', value: [...commands] }];
    const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
    return {
      status: 'Success',
      items: items.map(({ uid }) => ({ uid: uid ?? '', patchType: 'JSONPatch', patch: encoded })),
    };
  });
  onTestFinished(() => server.close());
  return extensionConfig('patcher', { url: server.url, caBundle }) as unknown as JsonObject;
}

test('a release of an extension is judged by a record, without a cluster', async () => {
  const [old, same, next] = [await startRelease(['a']), await startRelease(['a']), await startRelease(['b'])];
  const { from } = foldersOf(folder, named('E3-only-md-0'));
  const [record, config] = [join(folder, 'record'), join(folder, 'old.json')];
  writeFileSync(config, list([old]));
  const { stderr } = await runProgram(['plan', '--from', from, '-f', config, '--record', record]);
  expect(stderr).toContain(`plan: 1 answer recorded in ${record}`);
  expect(statSync(join(record, 'answers.json')).mode & 0o077).toBe(0);
  expect(readFileSync(join(record, 'objects.json'), 'utf8')).not.toContain('"kind": "Machine"');

  const judge = async (release: JsonObject) => {
    const url = textAt(release, 'spec', 'clientConfig', 'url');
    const args = ['--recorded', record, '--extension', `patcher=${url}`, '-o', 'json', '--fail-on', 'change'];
    const { stdout, code } = await runProgram(['plan', ...args]);
    const [{ groups }] = (JSON.parse(stdout) as Plan).clusters as [Plan['clusters'][number]];
    return { code, verdicts: groups.map(({ group, verdict }) => `${group}: ${verdict}`) };
  };
  expect(await judge(same)).toEqual({
    code: 0,
    verdicts: ['control-plane: unchanged', 'md-0: unchanged', 'md-1: unchanged'],
  });
  expect(await judge(next)).toEqual({
    code: 1,
    verdicts: ['control-plane: unchanged', 'md-0: replaced', 'md-1: unchanged'],
  });

  const conforms = async (release: JsonObject) => {
    const file = join(folder, 'release.json');
    writeFileSync(file, list([release]));
    const args = ['-f', file, '--recorded', record, '--check', 'patches-as-recorded', '-o', 'json'];
    const { stdout } = await runProgram(['conformance', ...args]);
    return objectsAt(JSON.parse(stdout), 'checks').map(({ status, problems }) => [status, JSON.stringify(problems)]);
  };
  expect(await conforms(same)).toEqual([['passed', expect.anything()]]);
  expect(await conforms(next)).toEqual([['failed', expect.stringContaining('default/f1: md-0 replaces 3 Machines: ')]]);
});

test('an extension that is not discovered is not called, and what it would patch is not known', async () => {
  const { status: _status, ...config } = await startRelease(['a']);
  const { from, to } = foldersOf(folder, named('E3-only-md-0'));
  const verdictsWith = async (status: JsonObject, ...args: string[]) => {
    const file = join(folder, 'status.json');
    writeFileSync(file, list([{ ...config, status }]));
    const { stdout } = await runProgram(['plan', '--from', from, '--from', file, '-f', to, '-o', 'json', ...args]);
    const [cluster] = (JSON.parse(stdout) as Plan).clusters;
    return {
      verdicts: [...new Set(cluster?.groups.map(({ verdict }) => verdict))],
      text: JSON.stringify(cluster?.problems),
    };
  };
  const condition = { type: 'Discovered', status: 'False', reason: 'DiscoveryFailed', message: 'connection refused' };
  const failed = await verdictsWith({ conditions: [condition], handlers: [] });
  expect(failed.verdicts).toEqual(['unknown']);
  expect(failed.text).toContain('has not discovered ExtensionConfig patcher (connection refused)');
  const none = await verdictsWith({ conditions: [{ ...condition, status: 'True' }], handlers: [] });
  expect(none.text).toContain('has not discovered ExtensionConfig patcher (it has no handlers)');
  const url = textAt(config, 'spec', 'clientConfig', 'url');
  const replaced = await verdictsWith({ conditions: [condition], handlers: [] }, '--extension', `patcher=${url}`);
  expect(replaced.text).not.toContain('has not discovered');
});

test('values of variables that look like secrets are not recorded, nor what is made of them', async () => {
  const change = named('audit-level');
  const before = structuredClone(change.before);
  const secret = 'hunter2hunter2';
  const cluster = before.find(({ kind }) => kind === 'Cluster')!;
  const fleet = before.find((object) => object.kind === 'ClusterClass' && nameOf(object) === 'fleet')!;
  itemsAt(cluster, 'spec', 'topology', 'variables').push({ name: 'registryPassword', value: secret });
  itemsAt(fleet, 'spec', 'variables').push({
    name: 'registryPassword',
    required: false,
    schema: { openAPIV3Schema: { type: 'string' } },
  });
  const { from } = foldersOf(folder, { ...change, name: 'secret', before });
  const record = join(folder, 'secret-record');
  await runProgram(['plan', '--from', from, '--record', record]);
  expect(readFileSync(join(record, 'objects.json'), 'utf8')).not.toContain(secret);
});
