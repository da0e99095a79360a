import { describe, expect, test } from 'vitest';
import { copyOf, type JsonObject } from '../../../src/kubernetes/index.ts';
import { controlPlaneOf } from '../../../src/topology/control-planes/index.ts';
import { merged } from '../rollout/groups.ts';
import { judged, machineOf, outcomeOf, specOf } from './judging.ts';

const controlPlane: JsonObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'K0sControlPlane',
  metadata: { name: 'cp', namespace: 'default' },
  spec: {
    replicas: 3,
    version: 'v1.33.2+k0s.0',
    updateStrategy: 'InPlace',
    machineTemplate: {
      infrastructureRef: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'InfraMachineTemplate',
        name: 'cp-1',
      },
    },
    k0sConfigSpec: {
      args: ['--enable-worker'],
      files: [{ path: '/etc/a', content: 'a' }],
      k0s: { kind: 'ClusterConfig', spec: { network: { provider: 'calico' } } },
    },
  },
};

const config = (more: JsonObject): JsonObject => ({ k0sConfigSpec: more });
const recreate: JsonObject = { updateStrategy: 'Recreate' };
const template = (name: string): JsonObject => ({ machineTemplate: { infrastructureRef: { name } } });

describe('what a K0sControlPlane replaces Machines for, of those that it would make', () => {
  test.each<[what: string, spec: JsonObject, expected: string, before?: JsonObject]>([
    ['another version', { version: 'v1.34.1+k0s.0' }, 'inPlace: spec.version'],
    ['another version, Recreate', { version: 'v1.34.1+k0s.0' }, 'replaced 3: spec.version', recreate],
    ['Recreate with the version', { version: 'v1.34.1+k0s.0', ...recreate }, 'replaced 3: spec.version'],
    ['a version without its suffix', { version: 'v1.33.2' }, 'inPlace: spec.version'],
    [
      'a version and another template',
      { version: 'v1.34.1+k0s.0', ...template('cp-2') },
      'replaced 3: spec.version, spec.machineTemplate.infrastructureRef.name',
    ],
    ['another template', template('cp-2'), 'replaced 3: spec.machineTemplate.infrastructureRef.name'],
    ['arguments', config({ args: ['--debug'] }), 'replaced 3: spec.k0sConfigSpec.args'],
    ['files', config({ files: null }), 'replaced 3: spec.k0sConfigSpec.files'],
    ['commands', config({ preK0sCommands: ['echo'] }), 'replaced 3: spec.k0sConfigSpec.preK0sCommands'],
    [
      'tunneling',
      config({ tunneling: { enabled: true, serverAddress: 'a' } }),
      'replaced 3: spec.k0sConfigSpec.tunneling.enabled, spec.k0sConfigSpec.tunneling.serverAddress',
    ],
    ['commands in v1beta1', config({ preStartCommands: ['echo'] }), 'replaced 3: spec.k0sConfigSpec.preK0sCommands'],
    [
      'ignition in v1beta1',
      config({ ignition: { variant: 'fcos' } }),
      'replaced 3: spec.k0sConfigSpec.provisioner.type, spec.k0sConfigSpec.provisioner.ignition',
    ],
    [
      'a default in words',
      config({ k0sInstallDir: '/usr/local/bin', provisioner: { type: 'cloud-config' } }),
      'inPlace: spec.k0sConfigSpec.k0sInstallDir, spec.k0sConfigSpec.provisioner',
    ],
    [
      'the ClusterConfig of k0s',
      config({ k0s: { spec: { network: { provider: 'kuberouter' } } } }),
      'inPlace: spec.k0sConfigSpec.k0s.spec.network.provider',
    ],
    [
      'labels of Machines',
      { machineTemplate: { metadata: { labels: { a: 'b' } } } },
      'inPlace: spec.machineTemplate.metadata',
    ],
    ['the strategy', recreate, 'inPlace: spec.updateStrategy'],
    ['replicas', { replicas: 5 }, 'scaled: spec.replicas'],
    [
      'an entry of a map with an empty value',
      config({ secretMetadata: { labels: { a: '' } } }),
      'replaced 3: spec.k0sConfigSpec.secretMetadata.labels.a',
      config({ secretMetadata: { labels: { b: '' } } }),
    ],
    [
      'a field that is not known here',
      { newField: 1 },
      'unknown: what spec.newField of K0sControlPlane does to Machines is not known',
    ],
  ])('%s', async (_, spec, expected, before = {}) => {
    expect(outcomeOf(await judged(merged(controlPlane, { spec: before }), { spec }))).toBe(expected);
  });

  test.each([
    [
      { version: 'v1.34.1+k0s.0' },
      "3 Machines updated in place by k0s' autopilot, as long as the control plane is Available",
    ],
    [template('cp-2'), 'one after the other, a new Machine comes first (maxSurge 1)'],
    [
      { ...template('cp-2'), updateStrategy: 'RecreateDeleteFirst' },
      'one after the other, the old Machine goes first (maxSurge 0)',
    ],
    [
      { ...template('cp-2'), updateStrategy: 'RecreateDeleteFirst', replicas: 1 },
      'one after the other, a new Machine comes first (maxSurge 1)',
    ],
  ])('%j: %s', async (spec, expected) => {
    expect((await judged(controlPlane, { spec })).manner?.[0]).toBe(expected);
  });

  test.each([
    ['InPlace', 'updated twice: v1.33.2+k0s.0 → v1.34.1+k0s.0 → v1.35.0+k0s.0'],
    ['Recreate', 'replaced twice: v1.33.2+k0s.0 → v1.34.1+k0s.0 → v1.35.0+k0s.0'],
  ])('two minors, %s', async (updateStrategy, expected) => {
    const versions = ['v1.33.2+k0s.0', 'v1.34.1+k0s.0', 'v1.35.0+k0s.0'];
    const patch = { spec: { version: 'v1.35.0+k0s.0', updateStrategy } };
    expect((await judged(controlPlane, patch, undefined, {}, versions)).manner).toContain(expected);
  });

  test('Machines that are removed are not counted as updated', async () => {
    const { machines } = await judged(controlPlane, { spec: { version: 'v1.34.1+k0s.0', replicas: 1 } });
    expect(machines).toEqual({ before: 3, after: 1, replaced: 0, inPlace: 1 });
  });
});

describe('Machines that exist', () => {
  // As k0smotron writes it: with the name of the etcd member, which does not count.
  const annotation = {
    'k0s.controlplane.cluster.x-k8s.io/k0s-config': JSON.stringify({
      provisioner: { type: 'cloud-config', platform: 'linux' },
      ...(specOf(controlPlane).k0sConfigSpec as JsonObject),
      k0s: { kind: 'ClusterConfig', spec: { storage: { etcd: { extraArgs: { name: 'm' } } } } },
    }),
  };
  const machine = (name: string, more: Partial<Parameters<typeof machineOf>[1]> = {}) =>
    machineOf(name, {
      version: 'v1.33.2+k0s.0',
      annotations: annotation,
      config: { kind: 'K0sControllerConfig', metadata: {}, spec: {} },
      clonedFrom: 'cp-1',
      ...more,
    });
  const missing =
    'unknown: Machine default/m has no annotation k0s.controlplane.cluster.x-k8s.io/k0s-config: whether its k0sConfigSpec is up to date is not known';

  test.each<[what: string, more: Parameters<typeof machine>[1], spec: JsonObject, expected: string]>([
    ['the annotation is up to date', {}, { replicas: 1 }, 'unchanged'],
    ['k0sConfigSpec against the annotation', {}, config({ args: [] }), 'replaced 1: spec.k0sConfigSpec.args'],
    ['only the version', {}, { version: 'v1.34.1+k0s.0' }, 'inPlace: spec.version'],
    ['a version without the suffix is up to date', { version: 'v1.33.2' }, { replicas: 1 }, 'unchanged'],
    ['a version without v is the same', {}, { version: '1.33.2+k0s.0' }, 'inPlace: spec.version'],
    ['without the annotation', { annotations: {} }, config({ args: [] }), missing],
    ['without the annotation, InPlace', { annotations: {} }, { version: 'v1.34.1+k0s.0' }, missing],
    [
      'without the annotation, replaced in any case',
      { annotations: {} },
      { version: 'v1.34.1+k0s.0', ...recreate },
      'replaced 1: spec.version',
    ],
    [
      'what k0smotron before v2.0 wrote is converted',
      {
        annotations: {
          'k0s.controlplane.cluster.x-k8s.io/k0s-config': JSON.stringify({
            args: ['--enable-worker'],
            files: [{ path: '/etc/a', content: 'a' }],
            preStartCommands: ['echo'],
          }),
        },
      },
      config({ preK0sCommands: ['echo'] }),
      'inPlace: spec.k0sConfigSpec.preK0sCommands',
    ],
    ...['{', '1', '[]', '{"k0s":{"spec":{}}}', '{"k0s":7}'].map(
      (text): [string, Parameters<typeof machine>[1], JsonObject, string] => [
        `an annotation that k0smotron cannot read: ${text}`,
        { annotations: { 'k0s.controlplane.cluster.x-k8s.io/k0s-config': text } },
        config({ args: [] }),
        'replaced 1: spec.k0sConfigSpec.args',
      ],
    ),
  ])('%s', async (_, more, spec, expected) => {
    const before = merged(controlPlane, { spec: { replicas: 1 } });
    expect(outcomeOf(await judged(before, { spec }, [machine('m', more)]))).toBe(expected);
  });

  test('an infrastructure that does not say what it was cloned from is replaced, whether the change is made or not', async () => {
    const before = merged(controlPlane, { spec: { replicas: 1 } });
    const old = machineOf('m', { version: 'v1.33.2+k0s.0', annotations: annotation, config: { spec: {} } });
    const plan = await judged(before, { spec: { kubeconfigSecretMetadata: { labels: { a: 'b' } } } }, [old]);
    expect(plan.problems?.map(({ text }) => text)).toEqual([
      '1 Machine (m) is not up to date already, without this change',
    ]);
  });

  test('what k0smotron keeps for a control plane without a ClusterConfig, it cannot read', async () => {
    const before = merged(controlPlane, { spec: { replicas: 1, ...config({ k0s: null }) } });
    const k0s = { spec: { storage: { etcd: { extraArgs: { name: 'm' } } } } };
    const text = JSON.stringify({ provisioner: {}, ...(specOf(before).k0sConfigSpec as JsonObject), k0s });
    const made = machine('m', { annotations: { 'k0s.controlplane.cluster.x-k8s.io/k0s-config': text } });
    const plan = await judged(before, { spec: { kubeconfigSecretMetadata: { labels: { a: 'b' } } } }, [made]);
    expect(plan.problems?.map((problem) => problem.text)).toEqual([
      '1 Machine (m) is not up to date already, without this change',
    ]);
  });

  test.each([
    ['v1.33.2+k0s.0', /^unknown: Machine \S+: without k0sConfigSpec\.k0s, k0smotron keeps .* cannot read again/],
    ['v1.31.0+k0s.0', /^inPlace: spec\.version$/],
  ])('another version than %s without a ClusterConfig', async (version, expected) => {
    const before = merged(controlPlane, { spec: { version, ...config({ k0s: null }) } });
    expect(outcomeOf(await judged(before, { spec: { version: 'v1.34.1+k0s.0' } }))).toMatch(expected);
    // The template replaces them in any case.
    const both = { spec: { version: 'v1.34.1+k0s.0', ...template('cp-2') } };
    expect(outcomeOf(await judged(before, both))).toMatch(/^replaced 3: spec\.version, spec\.machineTemplate/);
  });

  test('tunneling without an address, in the spec and on the Machine', async () => {
    const spec = { replicas: 1, ...config({ tunneling: { enabled: true } }) };
    const before = merged(controlPlane, { spec });
    const kept = { 'k0s.controlplane.cluster.x-k8s.io/k0s-config': JSON.stringify(specOf(before).k0sConfigSpec) };
    expect(outcomeOf(await judged(before, { spec: recreate }, [machine('m', { annotations: kept })]))).toBe(
      'inPlace: spec.updateStrategy',
    );
  });

  test('of two, the one that differs in more than its version is replaced', async () => {
    const before = merged(controlPlane, { spec: { replicas: 2 } });
    const machines = [machine('a'), machine('b', { clonedFrom: 'cp-0' })];
    const plan = await judged(before, { spec: { version: 'v1.34.1+k0s.0' } }, machines);
    expect([plan.machines, plan.replaces]).toEqual([{ before: 2, after: 2, replaced: 1, inPlace: 1 }, ['b']]);
  });
});

describe('what the webhook refuses', () => {
  const webhook = 'admission webhook "validate-k0scontrolplane-v1beta2.k0smotron.io" denied the request: ';
  test.each<[spec: JsonObject, expected: string | undefined, isStep?: boolean]>([
    [{ version: 'v1.34.1+k0s.0' }, undefined],
    [
      { version: 'v1.35.0+k0s.0' },
      'upgrading more than one minor version at a time is not allowed by the Kubernetes skew policy',
    ],
    [{ version: 'v1.35.0+k0s.0' }, undefined, false],
    [{ version: 'v1.31.1+k0s.0' }, 'version v1.31.1+k0s.0 is not compatible with K0sControlPlane, use v1.31.2+'],
    [
      config({ provisioner: { type: 'powershell' } }),
      'K0sControlPlane does not support powershell and powershell-xml provisioning formats',
    ],
    [
      { ...recreate, ...config({ args: ['--single'] }) },
      'UpdateStrategy Recreate strategy is not allowed when the cluster is running in single mode',
    ],
  ])('%j', (spec, expected, isStep = true) => {
    const refusal = controlPlaneOf(controlPlane)?.refusal?.(controlPlane, merged(controlPlane, { spec }), isStep);
    expect(refusal).toBe(expected && `${webhook}${expected}`);
  });
});

test('a ClusterConfig without a kind is refused, as Go says it', () => {
  const after = merged(controlPlane, { spec: config({ k0s: { kind: null, spec: { api: { port: 6443 }, a: '<' } } }) });
  expect(controlPlaneOf(controlPlane)?.refusal?.(controlPlane, after, true)).toBe(
    `admission webhook "mutate-k0scontrolplane-v1beta2.k0smotron.io" denied the request: Object 'Kind' is missing in '{"spec":{"a":"\\u003c","api":{"port":6443},"network":{"provider":"calico"}}}'`,
  );
});

test('defaults of the schema', () => {
  const object = copyOf({ ...controlPlane, spec: { version: 'v1.33.2+k0s.0' } });
  controlPlaneOf(object)?.fillDefaults?.(object);
  expect(object.spec).toEqual({ version: 'v1.33.2+k0s.0', replicas: 1, updateStrategy: 'InPlace' });
});
