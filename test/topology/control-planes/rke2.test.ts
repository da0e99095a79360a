import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { controlPlaneOf } from '../../../src/topology/control-planes/index.ts';
import { judged, machineOf, outcomeOf, templateNamed } from './judging.ts';

const controlPlane: JsonObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'RKE2ControlPlane',
  metadata: { name: 'cp', namespace: 'default' },
  spec: {
    replicas: 3,
    version: 'v1.33.2+rke2r1',
    machineTemplate: { spec: { infrastructureRef: templateNamed('cp-1') } },
    rolloutStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    serverConfig: { cni: 'calico', tlsSan: ['a.example.com'] },
    agentConfig: { nodeLabels: ['a=b'] },
    files: [{ path: '/etc/a', content: 'a' }],
  },
};

describe('what an RKE2ControlPlane replaces Machines for, of those that it would make', () => {
  test.each<[what: string, spec: JsonObject, expected: string]>([
    ['another version', { version: 'v1.34.1+rke2r1' }, 'replaced 3: spec.version'],
    ['another release of RKE2', { version: 'v1.33.2+rke2r2' }, 'replaced 3: spec.version'],
    [
      'another template',
      { machineTemplate: { spec: { infrastructureRef: { name: 'cp-2' } } } },
      'replaced 3: spec.machineTemplate.spec.infrastructureRef.name',
    ],
    ['serverConfig', { serverConfig: { cni: 'cilium' } }, 'replaced 3: spec.serverConfig.cni'],
    ['agentConfig', { agentConfig: { nodeLabels: ['a=c'] } }, 'replaced 3: spec.agentConfig.nodeLabels'],
    ['files', { files: [] }, 'replaced 3: spec.files'],
    ['commands', { preRKE2Commands: ['echo'] }, 'replaced 3: spec.preRKE2Commands'],
    [
      'a zero value that Go omits',
      { agentConfig: { airGapped: false, dataDir: '' } },
      'inPlace: spec.agentConfig.airGapped, spec.agentConfig.dataDir',
    ],
    ['a pointer to a zero value, which Go does not', { gzipUserData: false }, 'replaced 3: spec.gzipUserData'],
    [
      'a pointer deep in serverConfig',
      { serverConfig: { etcd: { backupConfig: { disableAutomaticSnapshots: false } } } },
      'replaced 3: spec.serverConfig.etcd',
    ],
    [
      'an entry of a map with an empty value',
      { agentConfig: { nodeAnnotations: { a: '' } } },
      'replaced 3: spec.agentConfig.nodeAnnotations',
    ],
    [
      'labels of Machines',
      { machineTemplate: { metadata: { labels: { a: 'b' } } } },
      'inPlace: spec.machineTemplate.metadata',
    ],
    [
      'deletion timeouts',
      { machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 60 } } } },
      'inPlace: spec.machineTemplate.spec.deletion',
    ],
    ['replicas', { replicas: 5 }, 'scaled: spec.replicas'],
    [
      'the strategy',
      { rolloutStrategy: { rollingUpdate: { maxSurge: 0 } } },
      'inPlace: spec.rolloutStrategy.rollingUpdate.maxSurge',
    ],
    ['the registration method', { registrationMethod: 'address' }, 'inPlace: spec.registrationMethod'],
    [
      'a field that is not known here',
      { newField: 1 },
      'unknown: what spec.newField of RKE2ControlPlane does to Machines is not known',
    ],
  ])('%s', async (_, spec, expected) => {
    expect(outcomeOf(await judged(controlPlane, { spec }))).toBe(expected);
  });

  test('maxSurge 0: the old Machine goes first', async () => {
    const patch = { spec: { version: 'v1.34.1+rke2r1', rolloutStrategy: { rollingUpdate: { maxSurge: 0 } } } };
    expect((await judged(controlPlane, patch)).manner?.[0]).toBe(
      'one after the other, the old Machine goes first (maxSurge 0)',
    );
  });
});

describe('Machines that exist', () => {
  const config = (spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject => ({
    kind: 'RKE2Config',
    metadata: { annotations },
    spec: { agentConfig: { nodeLabels: ['a=b'] }, files: [{ path: '/etc/a', content: 'a' }], ...spec },
  });
  const serverConfig = {
    'controlplane.cluster.x-k8s.io/rke2-server-configuration': '{"cni":"calico","tlsSan":["a.example.com"]}',
  };
  const machine = (name: string, more: Partial<Parameters<typeof machineOf>[1]> = {}) =>
    machineOf(name, {
      version: 'v1.33.2+rke2r1',
      annotations: serverConfig,
      config: config(),
      clonedFrom: 'cp-1',
      ...more,
    });

  test.each<[what: string, more: Parameters<typeof machine>[1], spec: JsonObject, expected: string]>([
    [
      'serverConfig against the annotation',
      {},
      { serverConfig: { cni: 'cilium' } },
      'replaced 1: spec.serverConfig.cni',
    ],
    [
      'without the annotation, serverConfig does not count',
      { annotations: {} },
      { serverConfig: { cni: 'cilium' } },
      'inPlace: spec.serverConfig.cni',
    ],
    [
      'without the annotations of the template, another one does not count',
      { clonedFrom: undefined as unknown as string },
      { machineTemplate: { spec: { infrastructureRef: { name: 'cp-2' } } } },
      'inPlace',
    ],
    [
      'what Rancher Turtles adds does not count',
      {
        config: config(
          {
            files: [{ path: '/etc/a', content: 'a' }, { path: '/opt/system-agent-install.sh' }],
            postRKE2Commands: ['sh /opt/system-agent-install.sh'],
          },
          { 'cluster-api.cattle.io/turtles-system-agent': '' },
        ),
      },
      { replicas: 1 },
      'unchanged',
    ],
    [
      'a version without the suffix depends on the release of the provider',
      { version: 'v1.33.2' },
      { registrationMethod: 'address' },
      'unknown: Machine default/m has the version v1.33.2: until v0.24, the RKE2 provider keeps it, since v0.25 it is replaced for v1.33.2+rke2r1',
    ],
    [
      'but not if the Machine is replaced in any case',
      { version: 'v1.33.2' },
      { agentConfig: { nodeLabels: ['x=y'] } },
      'replaced 1: spec.agentConfig.nodeLabels',
    ],
    [
      'one with two digits for the patch is replaced by every release',
      { version: 'v1.33.12' },
      { version: 'v1.33.12+rke2r1' },
      'replaced 1: spec.version',
    ],
  ])('%s', async (_, more, spec, expected) => {
    const before = { ...controlPlane, spec: { ...(controlPlane.spec as JsonObject), replicas: 1 } };
    expect(outcomeOf(await judged(before, { spec }, [machine('m', more)]))).toBe(expected);
  });
});

test('without a change, Machines without the annotation are named', async () => {
  const config = { kind: 'RKE2Config', metadata: {}, spec: { agentConfig: { nodeLabels: ['a=b'] } } };
  const machine = machineOf('m', { version: 'v1.33.2+rke2r1', config, clonedFrom: 'cp-1' });
  const before = { ...controlPlane, spec: { ...(controlPlane.spec as JsonObject), replicas: 1 } };
  const texts = async (explains: boolean) =>
    (await judged(before, {}, [machine], { explains })).problems?.map(({ text }) => text) ?? [];
  const text =
    '1 Machine (m): spec.serverConfig does not count without the annotation controlplane.cluster.x-k8s.io/rke2-server-configuration';
  expect(await texts(true)).toContain(text);
  expect(await texts(false)).not.toContain(text);
});

test('where extensions could update Machines in place, it is not known', async () => {
  const plan = await judged(controlPlane, { spec: { version: 'v1.34.1+rke2r1' } }, undefined, { updatesInPlace: true });
  expect(outcomeOf(plan)).toBe(
    'unknown: whether an extension updates Machines of RKE2ControlPlane in place is not known',
  );
});

test.each<[before: JsonObject, after: JsonObject, reason: RegExp | undefined]>([
  [
    { registrationMethod: 'address' },
    { registrationMethod: 'internal-first' },
    /"internal-first": field value is immutable once set$/,
  ],
  [{ registrationMethod: 'address' }, {}, /registrationMethod: Invalid value: "": field value is immutable once set$/],
  [{}, { registrationMethod: 'address' }, undefined],
])('a registration method stays once it is set: %j → %j', (before, after, reason) => {
  const object = (spec: JsonObject): JsonObject => ({ ...controlPlane, spec });
  const refusal = controlPlaneOf(controlPlane)?.refusal?.(object(before), object(after), true);
  expect(refusal).toEqual(reason === undefined ? undefined : expect.stringMatching(reason));
});
