import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  type Case,
  controlPlane,
  controlPlaneMachine,
  fieldsOf,
  firstMachine,
  infrastructure,
  planOf,
  updater,
} from './groups.ts';

const joined = ['m-1', 'm-2', 'm-3'].map((name) => controlPlaneMachine(name));
const withFirst = [firstMachine('m-1'), ...joined.slice(1)];
const config = (kubeadmConfigSpec: JsonObject): JsonObject => ({ spec: { kubeadmConfigSpec } });
const cluster = (clusterConfiguration: JsonObject) => config({ clusterConfiguration });

describe('a field of a control plane', () => {
  test.each<[string, JsonObject, number, string[]]>([
    ['nothing', {}, 0, []],
    ['version', { spec: { version: 'v1.34.1' } }, 3, ['spec.version']],
    ['files', config({ files: [{ path: '/a' }] }), 3, ['spec.kubeadmConfigSpec.files']],
    ['users', config({ users: [{ name: 'a' }] }), 3, ['spec.kubeadmConfigSpec.users']],
    ['verbosity 0', config({ verbosity: 0 }), 3, ['spec.kubeadmConfigSpec.verbosity']],
    ['format', config({ format: 'ignition' }), 3, ['spec.kubeadmConfigSpec.format']],
    [
      'etcd',
      cluster({ etcd: { local: { extraArgs: [{ name: 'a', value: 'b' }] } } }),
      3,
      ['spec.kubeadmConfigSpec.clusterConfiguration.etcd'],
    ],
    [
      'arguments of the API server in another order count',
      cluster({ apiServer: { extraArgs: [{ name: 'a', value: '' }] } }),
      3,
      ['spec.kubeadmConfigSpec.clusterConfiguration.apiServer.extraArgs'],
    ],
    [
      'encryption algorithm',
      cluster({ encryptionAlgorithm: 'ECDSA-P256' }),
      3,
      ['spec.kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm'],
    ],
    [
      'imageRepository',
      cluster({ imageRepository: 'r' }),
      3,
      ['spec.kubeadmConfigSpec.clusterConfiguration.imageRepository'],
    ],
    [
      'a feature gate',
      cluster({ featureGates: { ControlPlaneKubeletLocalMode: false } }),
      3,
      ['spec.kubeadmConfigSpec.clusterConfiguration.featureGates.ControlPlaneKubeletLocalMode'],
    ],
    [
      'no taints at all',
      config({ joinConfiguration: { nodeRegistration: { taints: [] } } }),
      3,
      ['spec.kubeadmConfigSpec.joinConfiguration.nodeRegistration.taints'],
    ],
  ])('%s: replaces', async (_, after, replaced, fields) => {
    const plan = await planOf({ after, machines: joined });
    expect(plan).toMatchObject({
      verdict: replaced > 0 ? 'replaced' : 'unchanged',
      machines: { before: 3, after: 3, replaced, inPlace: 0 },
    });
    expect(fieldsOf(plan)).toEqual(fields);
    expect(plan.replaces).toEqual(replaced > 0 ? ['m-1', 'm-2', 'm-3'] : undefined);
  });

  test.each<[string, JsonObject, number]>([
    ['dns', cluster({ dns: { imageTag: 'v1.12.0' } }), 0],
    ['the feature gate that Cluster API sets', cluster({ featureGates: { ControlPlaneKubeletLocalMode: true } }), 0],
    ['the default format', config({ format: 'cloud-config' }), 0],
    [
      'the default pull policy',
      config({ joinConfiguration: { nodeRegistration: { imagePullPolicy: 'IfNotPresent' } } }),
      0,
    ],
    ['an empty list', config({ files: [] }), 0],
    ['discovery', config({ joinConfiguration: { discovery: { tlsBootstrapToken: 'a.b' } } }), 0],
    [
      'the health check timeout',
      config({ joinConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 9 } } }),
      0,
    ],
    ['strategy', { spec: { rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } } } }, 0],
    ['names of Machines', { spec: { machineNaming: { template: 'x-{{ .random }}' } } }, 0],
    ['remediation', { spec: { remediation: { maxRetry: 3 } } }, 0],
    ['its own annotation', { metadata: { annotations: { a: 'b' } } }, 0],
    ['labels of Machines', { spec: { machineTemplate: { metadata: { labels: { a: 'b' } } } } }, 3],
    ['drain timeout', { spec: { machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 1 } } } } }, 3],
    ['readiness gates', { spec: { machineTemplate: { spec: { readinessGates: [{ conditionType: 'A' }] } } } }, 3],
    ['taints', { spec: { machineTemplate: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } } } }, 3],
  ])('%s: is written in place', async (_, after, inPlace) => {
    const plan = await planOf({ after, machines: joined });
    expect(plan).toMatchObject({ verdict: 'inPlace', machines: { replaced: 0, inPlace } });
    expect(plan.causes.length).toBe(1);
    expect(plan.manner?.some((text) => text.includes('written to Machines')) ?? false).toBe(inPlace > 0);
  });

  test.each([
    'kubectl.kubernetes.io/last-applied-configuration',
    'cluster.x-k8s.io/conversion-data',
  ])('the annotation %s is no change', async (name) => {
    expect(await planOf({ after: { metadata: { annotations: { [name]: 'a' } } } })).toMatchObject({
      verdict: 'unchanged',
    });
  });

  test('a version without the feature gate that Cluster API sets', async () => {
    const plan = await planOf({ before: { spec: { version: 'v1.35.0' } }, after: { spec: { version: 'v1.36.0' } } });
    expect(fieldsOf(plan)).toEqual(['spec.version', 'spec.kubeadmConfigSpec.clusterConfiguration.featureGates']);
  });
});

describe('the first Machine of a control plane', () => {
  const argument = (value: string) => ({ nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value }] } });

  test.each<[string, JsonObject, string[]]>([
    ['what joins: not the first', config({ joinConfiguration: argument('3') }), ['m-2', 'm-3']],
    ['what begins: not those that joined', config({ initConfiguration: argument('3') }), []],
    ['both', config({ initConfiguration: argument('3'), joinConfiguration: argument('3') }), ['m-1', 'm-2', 'm-3']],
    ['all', cluster({ imageRepository: 'r' }), ['m-1', 'm-2', 'm-3']],
    ['the path of a CA that only joins have', config({ joinConfiguration: { caCertPath: '/a' } }), ['m-2', 'm-3']],
  ])('%s', async (_, after, replaces) => {
    const plan = await planOf({ after, machines: withFirst });
    expect(plan.replaces ?? []).toEqual(replaces);
  });

  test('if it differed from the others already, it is compared as what it is', async () => {
    const before = config({ joinConfiguration: argument('1') });
    const machines = [
      firstMachine('m-1'),
      controlPlaneMachine('m-2', { bootstrapConfig: { spec: { joinConfiguration: argument('1') } } }),
    ];
    const plan = await planOf({ before, after: config({ initConfiguration: argument('3') }), machines });
    expect(plan.replaces).toEqual(['m-1']);
    expect(fieldsOf(plan)).toEqual(['spec.kubeadmConfigSpec.initConfiguration.nodeRegistration.kubeletExtraArgs']);
  });

  test('where no Machine is known, it may have been replaced or not: the more expensive counts', async () => {
    const replaced = async (after: JsonObject) => (await planOf({ after })).machines.replaced;
    expect(await replaced(config({ joinConfiguration: argument('3') }))).toBe(3);
    expect(await replaced(config({ initConfiguration: argument('3') }))).toBe(0);
    const before = config({ joinConfiguration: argument('1') });
    expect((await planOf({ before, after: config({ initConfiguration: argument('3') }) })).machines.replaced).toBe(1);
  });
});

describe('the template of the infrastructure', () => {
  const referring = (name: string) => ({ spec: { machineTemplate: { spec: { infrastructureRef: { name } } } } });

  test('another content: its field is the cause', async () => {
    const templates = { infrastructure: infrastructure('cp-2', { size: 'large' }) };
    const plan = await planOf({ after: referring('cp-2'), templates, machines: joined });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 3 } });
    expect(plan.causes).toEqual([
      {
        object: 'DevMachineTemplate default/cp-2',
        field: 'spec.template.spec.size',
        before: 'small',
        after: 'large',
      },
    ]);
  });

  test.each([
    ['the same content', infrastructure('cp-2')],
    ['an unknown one', undefined],
  ])('%s under another name: the reference is the cause', async (_, template) => {
    const plan = await planOf({ after: referring('cp-2'), templates: { infrastructure: template }, machines: joined });
    expect(plan.causes).toEqual([
      {
        object: 'KubeadmControlPlane default/cp',
        field: 'spec.machineTemplate.spec.infrastructureRef.name',
        before: 'cp-1',
        after: 'cp-2',
      },
    ]);
  });

  test('changed under its name: nothing is compared, and that is said', async () => {
    const plan = await planOf({
      templates: { infrastructure: infrastructure('cp-1', { size: 'large' }) },
      machines: joined,
    });
    expect(plan).toMatchObject({
      verdict: 'unchanged',
      manner: [expect.stringMatching(/^DevMachineTemplate default\/cp-1 changes under its name/)],
    });
  });

  test('if the objects of Machines were not given, they are what the control plane had', async () => {
    const machines = joined.map((machine) => ({
      ...machine,
      infrastructureMachine: undefined,
      bootstrapConfig: undefined,
    }));
    expect(await planOf({ after: referring('cp-2'), machines })).toMatchObject({ machines: { replaced: 3 } });
    expect(await planOf({ machines })).toMatchObject({ verdict: 'unchanged' });
  });

  test('Machines that do not say of which template they are made are up to date', async () => {
    const machines = ['m-1', 'm-2', 'm-3'].map((name) =>
      controlPlaneMachine(name, { infrastructureMachine: { metadata: { annotations: null } } as JsonObject }),
    );
    expect(await planOf({ after: referring('cp-2'), machines })).toMatchObject({ machines: { replaced: 0 } });
  });
});

describe('it is time', () => {
  const since = (time: string) => ({ spec: { rollout: { after: time } } });
  const young = controlPlaneMachine('young', { machine: { metadata: { creationTimestamp: '2026-05-01T00:00:00Z' } } });

  test('rollout.after replaces what is older', async () => {
    const machines = [young, ...joined.slice(1)];
    const plan = await planOf({ after: since('2026-04-01T00:00:00Z'), machines });
    expect(plan).toMatchObject({ verdict: 'replaced', replaces: ['m-2', 'm-3'] });
    expect(plan.causes).toEqual([
      { object: 'KubeadmControlPlane default/cp', field: 'spec.rollout.after', after: '2026-04-01T00:00:00Z' },
    ]);
  });

  test('in the future, all', async () => {
    const plan = await planOf({ after: since('2026-07-01T00:00:00Z'), machines: [young, ...joined.slice(1)] });
    expect(plan).toMatchObject({
      machines: { replaced: 3 },
      manner: expect.arrayContaining(['not before 2026-07-01T00:00:00Z']),
    });
  });

  test('long ago, none; where the age is not known, all', async () => {
    expect(await planOf({ after: since('2025-01-01T00:00:00Z'), machines: joined })).toMatchObject({
      verdict: 'inPlace',
    });
    expect(await planOf({ after: since('2026-04-01T00:00:00Z') })).toMatchObject({ machines: { replaced: 3 } });
    expect(await planOf({ before: since('2026-04-01T00:00:00Z') })).toMatchObject({ verdict: 'unchanged' });
  });

  test('certificates expire', async () => {
    const expiring = controlPlaneMachine('expiring', {
      machine: { status: { certificatesExpiryDate: '2026-06-20T00:00:00Z' } },
    });
    const days = (certificatesExpiryDays: number) => ({ spec: { rollout: { before: { certificatesExpiryDays } } } });
    const machines = [expiring, ...joined.slice(1)];
    expect(await planOf({ after: days(21), machines })).toMatchObject({ verdict: 'replaced', replaces: ['expiring'] });
    expect(await planOf({ after: days(7), machines })).toMatchObject({ verdict: 'inPlace', machines: { replaced: 0 } });
  });
});

describe('scaling', () => {
  const files = config({ files: [{ path: '/a' }] });
  test.each<[string, Case, object]>([
    ['up', { after: { spec: { replicas: 5 } } }, { verdict: 'scaled', machines: { before: 3, after: 5, replaced: 0 } }],
    [
      'down',
      { after: { spec: { replicas: 1 } } },
      { verdict: 'scaled', machines: { before: 3, after: 1, replaced: 0 } },
    ],
    [
      'up, and a change',
      { after: { ...files, spec: { ...(files.spec as JsonObject), replicas: 5 } } },
      { verdict: 'replaced', machines: { before: 3, after: 5, replaced: 3 } },
    ],
    [
      'down, and a change: what scaling removes makes way for nothing',
      { after: { ...files, spec: { ...(files.spec as JsonObject), replicas: 1 } } },
      { verdict: 'replaced', machines: { before: 3, after: 1, replaced: 1 } },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await planOf({ ...given, machines: joined })).toMatchObject(expected);
    expect(await planOf(given)).toMatchObject(expected);
  });

  test('that replaces Machines, since a patch uses the number, is said', async () => {
    const plan = await planOf({
      after: { spec: { ...(files.spec as JsonObject), replicas: 5 } },
      change: { from: () => 'patch size, variable builtin.controlPlane.replicas' },
    });
    expect(plan.manner).toContain(
      'scaling from 3 to 5 changes builtin.controlPlane.replicas, which spec.kubeadmConfigSpec.files depends on: so it replaces Machines',
    );
  });
});

describe('Machines that are not up to date already', () => {
  const old = controlPlaneMachine('old', { machine: { spec: { version: 'v1.33.0' } } });
  const machines = [old, ...joined.slice(1)];

  test('are not replaced because of a change that does not concern them', async () => {
    const plan = await planOf({ after: { spec: { machineTemplate: { metadata: { labels: { a: 'b' } } } } }, machines });
    expect(plan).toMatchObject({ verdict: 'inPlace', machines: { replaced: 0 } });
    expect(plan.problems).toEqual([
      {
        text: '1 Machine (old) is not up to date already, without this change',
        causes: [expect.objectContaining({ field: 'spec.version', before: 'v1.33.0', after: 'v1.34.0' })],
      },
    ]);
  });

  test('are among those that a change concerns', async () => {
    const plan = await planOf({ after: config({ files: [{ path: '/a' }] }), machines });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 3 }, replaces: ['m-2', 'm-3', 'old'] });
    expect(fieldsOf(plan)).toEqual(['spec.kubeadmConfigSpec.files']);
  });

  test('need nothing if the change takes back what they lack', async () => {
    const plan = await planOf({ after: { spec: { version: 'v1.33.0' } }, machines });
    expect(plan).toMatchObject({ verdict: 'replaced', replaces: ['m-2', 'm-3'] });
    expect(plan.problems).toBeUndefined();
  });

  test('that are being deleted do not count', async () => {
    const going = controlPlaneMachine('going', {
      machine: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
    });
    const plan = await planOf({ after: { spec: { version: 'v1.34.1' } }, machines: [going, ...joined] });
    expect(plan).toMatchObject({ machines: { before: 3, replaced: 3 }, replaces: ['m-1', 'm-2', 'm-3'] });
  });
});

describe('updates in place', () => {
  const after = config({ files: [{ path: '/a' }] });
  const surge = (maxSurge: number, replicas = 3) => ({
    spec: { replicas, rollout: { strategy: { rollingUpdate: { maxSurge } } } },
  });

  test('all is covered: one Machine is replaced all the same, since a new one comes first', async () => {
    const { calls, options } = updater('all');
    const plan = await planOf({ after, machines: joined, options });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 1, inPlace: 2 }, replaces: ['m-3'] });
    expect(plan.manner).toContain('2 Machines updated in place by updater');
    expect(plan.manner?.some((text) => text.includes('maxSurge: 0'))).toBe(true);
    expect(calls).toHaveLength(2);
  });

  test.each<[string, Case, object]>([
    ['with maxSurge 0 none is', { before: surge(0) }, { verdict: 'inPlace', machines: { replaced: 0, inPlace: 3 } }],
    ['a single Machine is', { before: surge(1, 1) }, { verdict: 'replaced', machines: { replaced: 1, inPlace: 0 } }],
    [
      'scaling down leaves room',
      { after: { spec: { ...(after.spec as JsonObject), replicas: 1 } } },
      { verdict: 'scaled', machines: { before: 3, after: 1, replaced: 0, inPlace: 1 } },
    ],
    [
      'an update that does not affect availability needs no other Machine',
      { options: updater('all', { affectsAvailability: false }).options },
      { verdict: 'inPlace', machines: { replaced: 0, inPlace: 3 } },
    ],
    [
      'which older releases do not know',
      {
        options: {
          ...updater('all', { affectsAvailability: false }).options,
          clusterApiVersion: { major: 1, minor: 14 },
        },
      },
      { verdict: 'replaced', machines: { replaced: 1, inPlace: 2 } },
    ],
    [
      'the gate is not enabled',
      { options: { ...updater('all').options, updatesInPlace: false } },
      { verdict: 'replaced', machines: { replaced: 3, inPlace: 0 } },
    ],
    [
      'rollout.after always replaces',
      { after: { spec: { rollout: { after: '2026-04-01T00:00:00Z' } } } },
      { verdict: 'replaced', machines: { replaced: 3, inPlace: 0 } },
    ],
  ])('%s', async (_, given, expected) => {
    const machines = Array.from(
      { length: given.before === undefined ? 3 : Number((given.before.spec as JsonObject).replicas) },
      (__, index) => controlPlaneMachine(`m-${index + 1}`),
    );
    const plan = await planOf({ after, options: updater('all').options, ...given, machines });
    expect(plan).toMatchObject(expected);
    const { machines: _known, ...unknown } = { after, options: updater('all').options, ...given, machines };
    expect((await planOf(unknown)).machines).toEqual(plan.machines);
  });

  test('what is not covered is named', async () => {
    const plan = await planOf({
      after: { spec: { ...(after.spec as JsonObject), version: 'v1.34.1' } },
      machines: joined,
      options: updater(['bootstrapConfig']).options,
    });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 3, inPlace: 0 } });
    expect(plan.manner).toContain('updater does not cover spec.version of the Machine');
  });

  test('nobody who could be asked is not known', async () => {
    expect(await planOf({ after, machines: joined, options: { updatesInPlace: true } })).toMatchObject({
      verdict: 'unknown',
      machines: { replaced: 0 },
      problems: [{ remedy: expect.any(String) }],
    });
  });

  test.each<[string, Partial<Case>['options'], object]>([
    ['no extension is registered', { call: () => Promise.resolve({ is: 'none' }) }, { verdict: 'replaced' }],
    [
      'an extension fails, and Cluster API stops',
      { call: () => Promise.resolve({ is: 'failed', error: 'no' }) },
      { verdict: 'refused', problems: [{ text: 'no' }] },
    ],
    [
      'a patch cannot be applied',
      {
        call: () =>
          Promise.resolve({
            is: 'answered',
            handler: 'updater',
            response: { machinePatch: { patchType: 'JSONPatch', patch: '' } },
          }),
      },
      { verdict: 'refused' },
    ],
  ])('%s', async (_, options, expected) => {
    const plan = await planOf({ after, machines: joined, options: { updatesInPlace: true, ...options } });
    expect(plan).toMatchObject(expected);
  });

  test('what is not given of a Machine is as its control plane makes it', async () => {
    const { calls, options } = updater('all');
    const machines = joined.map(({ machine }) => ({
      ...{ machine, bootstrapConfig: undefined, infrastructureMachine: undefined },
    }));
    expect(await planOf({ after, machines, options })).toMatchObject({ machines: { replaced: 1, inPlace: 2 } });
    expect(calls[0]?.request).toMatchObject({
      current: {
        machine: { metadata: { name: 'm-1' } },
        infrastructureMachine: { kind: 'DevMachine', metadata: { name: 'm-1' }, spec: { size: 'small' } },
        bootstrapConfig: { kind: 'KubeadmConfig', spec: { joinConfiguration: { controlPlane: {} } } },
      },
    });
  });

  test('nobody is asked without the templates', async () => {
    const { calls, options } = updater('all');
    const templates = { infrastructure: undefined };
    expect(await planOf({ after, machines: joined, options, templates })).toMatchObject({ machines: { replaced: 3 } });
    expect(calls).toEqual([]);
  });

  test('in failure domains, which one is replaced depends on where the new one is made', async () => {
    const machines = ['a', 'b', 'c'].map((failureDomain, index) =>
      controlPlaneMachine(`m-${index}`, { machine: { spec: { failureDomain } } }),
    );
    const plan = await planOf({ after, machines, options: updater('all').options });
    expect(plan).toMatchObject({ machines: { replaced: 1 } });
    expect(plan.replaces).toBeUndefined();
  });
});

test('an upgrade over two minors replaces twice, which is said', async () => {
  const plan = await planOf({
    after: { spec: { version: 'v1.36.0' } },
    change: { versions: ['v1.34.0', 'v1.35.1', 'v1.36.0'] },
    machines: joined,
  });
  expect(plan.machines.replaced).toBe(3);
  expect(plan.manner).toContain('replaced twice: v1.34.0 → v1.35.1 → v1.36.0');
});

test('nothing happens as long as it is paused', async () => {
  const cluster = { kind: 'Cluster', metadata: { name: 'c' }, spec: { paused: true } };
  const after = { spec: { version: 'v1.34.1' } };
  const plan = await planOf({ after, change: { cluster } });
  expect(plan).toMatchObject({
    verdict: 'unchanged',
    machines: { before: 3, after: 3, replaced: 0 },
    held: { is: 'paused', verdict: 'replaced', machines: { replaced: 3 } },
  });
  expect(plan.manner).toContain('nothing happens as long as Cluster default/c is paused');
  expect(fieldsOf(plan)).toEqual(['spec.version']);
});

test('the annotation of a Cluster pauses its topology, and not a control plane that users write', async () => {
  const annotated = (spec: JsonObject) => ({
    kind: 'Cluster',
    metadata: { name: 'c', annotations: { 'cluster.x-k8s.io/paused': '' } },
    spec,
  });
  const after = { spec: { version: 'v1.34.1' } };
  const verdictOf = async (spec: JsonObject) => (await planOf({ after, change: { cluster: annotated(spec) } })).verdict;
  expect(await verdictOf({})).toBe('replaced');
  expect(await verdictOf({ topology: { version: 'v1.34.1' } })).toBe('unchanged');
});

test.each<[maxSurge: number | string]>([
  ['1e999'],
  [1e300],
  [2 ** 31],
])('a surge without an end, %s, ends', async (maxSurge) => {
  const endless = { spec: { rollout: { strategy: { rollingUpdate: { maxSurge } } } } };
  const after = { spec: { ...endless.spec, version: 'v1.34.1' } };
  expect(await planOf({ before: endless, after, machines: joined })).toMatchObject({ machines: { replaced: 3 } });
});

test.each<[string, JsonObject, number]>([
  ['an empty source of a variable', { name: 'A', value: 'b', valueFrom: {} }, 3],
  ['an empty value of a variable', { name: 'A', value: '' }, 0],
])('kubeadm: %s', async (_, variable, replaced) => {
  const etcd = (one: JsonObject) => ({
    spec: { kubeadmConfigSpec: { clusterConfiguration: { etcd: { local: { extraEnvs: [one] } } } } },
  });
  const before = etcd(replaced === 0 ? { name: 'A' } : { name: 'A', value: 'b' });
  const plan = await planOf({ before, after: etcd(variable) });
  expect(plan.machines.replaced).toBe(replaced);
});

test.each([
  ['created', { before: undefined }, { verdict: 'created', machines: { before: 0, after: 3 } }],
  [
    'deleted',
    { after: undefined, machines: joined.slice(1) },
    { verdict: 'deleted', machines: { before: 2, after: 0 } },
  ],
])('a control plane that is %s', async (_, change, expected) => {
  expect(await planOf({ change })).toMatchObject({ ...expected, causes: [] });
});

test('of a control plane that wants Machines, and of which none was given, there are as many as it wants', async () => {
  expect(await planOf({ after: { spec: { version: 'v1.34.1' } }, machines: [] })).toMatchObject({
    machines: { before: 3, replaced: 3 },
  });
  expect(controlPlane.object.kind).toBe('KubeadmControlPlane');
});
