import { describe, expect, test } from 'vitest';
import { copyOf, type JsonObject } from '../../../src/kubernetes/index.ts';
import { controlPlaneOf } from '../../../src/topology/control-planes/index.ts';
import { merged } from '../rollout/groups.ts';
import { judged, machineOf, outcomeOf } from './judging.ts';

const controlPlane: JsonObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
  kind: 'TalosControlPlane',
  metadata: { name: 'cp', namespace: 'default' },
  spec: {
    replicas: 3,
    version: 'v1.33.2',
    rolloutStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    infrastructureTemplate: {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'InfraMachineTemplate',
      name: 'cp-1',
    },
    controlPlaneConfig: {
      controlplane: {
        generateType: 'controlplane',
        talosVersion: 'v1.11',
        strategicPatches: ['machine: {}'],
        hostname: { source: 'MachineName' },
      },
    },
  },
};

const config = (controlplane: JsonObject): JsonObject => ({ controlPlaneConfig: { controlplane } });
const onDelete: JsonObject = { rolloutStrategy: { type: 'OnDelete', rollingUpdate: null } };
const path = 'spec.controlPlaneConfig.controlplane';

describe('what a TalosControlPlane replaces Machines for, of those that it would make', () => {
  test.each<[what: string, spec: JsonObject, expected: string, before?: JsonObject]>([
    ['another version', { version: 'v1.34.1' }, 'replaced 3: spec.version'],
    ['another template', { infrastructureTemplate: { name: 'cp-2' } }, 'replaced 3: spec.infrastructureTemplate.name'],
    [
      'another kind of template',
      { infrastructureTemplate: { kind: 'OtherTemplate' } },
      'replaced 3: spec.infrastructureTemplate.name',
    ],
    [
      'another version of the same kind of template',
      { infrastructureTemplate: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2' } },
      'inPlace',
    ],
    ['the version of Talos', config({ talosVersion: 'v1.12' }), `replaced 3: ${path}.talosVersion`],
    ['patches', config({ strategicPatches: ['cluster: {}'] }), `replaced 3: ${path}.strategicPatches`],
    [
      'JSON patches',
      config({ configPatches: [{ op: 'add', path: '/a', value: false }] }),
      `replaced 3: ${path}.configPatches`,
    ],
    [
      'zero values in JSON patches',
      config({ configPatches: [{ op: 'add', path: '/a', value: { b: false } }] }),
      `replaced 3: ${path}.configPatches`,
      config({ configPatches: [{ op: 'add', path: '/a', value: {} }] }),
    ],
    ['its own config', config({ data: 'a', generateType: 'none' }), `replaced 3: ${path}.generateType, ${path}.data`],
    [
      'the source of hostnames',
      config({ hostname: { source: 'InfrastructureName' } }),
      `replaced 3: ${path}.hostname.source`,
    ],
    ['an empty value', config({ data: '' }), `inPlace: ${path}.data`],
    [
      'the config of a first Machine',
      { controlPlaneConfig: { init: { generateType: 'init' } } },
      'inPlace: spec.controlPlaneConfig.init',
    ],
    ['OnDelete', { ...onDelete, version: 'v1.34.1' }, 'onDelete: spec.version'],
    ['the strategy alone', onDelete, 'inPlace: spec.rolloutStrategy.type, spec.rolloutStrategy.rollingUpdate'],
    ['replicas', { replicas: 5 }, 'scaled: spec.replicas'],
    [
      'a field that is not known here',
      { newField: 1 },
      'unknown: what spec.newField of TalosControlPlane does to Machines is not known',
    ],
  ])('%s', async (_, spec, expected, before = {}) => {
    expect(outcomeOf(await judged(merged(controlPlane, { spec: before }), { spec }))).toBe(expected);
  });

  test('maxSurge 0: the old Machine goes first', async () => {
    const spec = { version: 'v1.34.1', rolloutStrategy: { rollingUpdate: { maxSurge: 0 } } };
    expect((await judged(controlPlane, { spec })).manner?.[0]).toBe(
      'one after the other, the old Machine goes first (maxSurge 0)',
    );
  });
});

describe('Machines that exist', () => {
  const machine = (more: Partial<Parameters<typeof machineOf>[1]> = {}) =>
    machineOf('m', {
      version: 'v1.33.2',
      config: {
        kind: 'TalosConfig',
        spec: {
          generateType: 'controlplane',
          talosVersion: 'v1.11',
          strategicPatches: ['machine: {}'],
          hostname: { source: 'MachineName' },
        },
      },
      clonedFrom: 'cp-1',
      ...more,
    });
  const old: JsonObject = { kind: 'TalosConfig', spec: { generateType: 'controlplane', talosVersion: 'v1.10' } };

  test.each<[what: string, more: Parameters<typeof machine>[0], spec: JsonObject, expected: string]>([
    ['the config is up to date', {}, { replicas: 1 }, 'unchanged'],
    ['a config that differs', {}, config({ talosVersion: 'v1.12' }), `replaced 1: ${path}.talosVersion`],
    [
      'without the annotations of the template, another one does not count',
      { clonedFrom: undefined as unknown as string },
      { infrastructureTemplate: { name: 'cp-2' } },
      'inPlace',
    ],
    [
      'empty annotations of the template are not missing',
      { clonedFrom: '' },
      { infrastructureTemplate: { name: 'cp-2' } },
      'replaced 1: spec.infrastructureTemplate.name',
    ],
    ['one that differed before is replaced too', { config: old }, { version: 'v1.34.1' }, 'replaced 1: spec.version'],
    ['OnDelete leaves it', {}, { ...onDelete, version: 'v1.34.1' }, 'onDelete: spec.version'],
  ])('%s', async (_, more, spec, expected) => {
    const before = merged(controlPlane, { spec: { replicas: 1 } });
    expect(outcomeOf(await judged(before, { spec }, [machine(more)]))).toBe(expected);
  });

  test('one that differed already is named with OnDelete', async () => {
    const before = merged(controlPlane, { spec: { replicas: 1, ...onDelete } });
    const plan = await judged(before, { spec: { replicas: 2 } }, [machine({ config: old })]);
    expect(plan.problems?.[0]).toMatchObject({
      text: '1 Machine (m) is not up to date already, without this change',
      remedy: 'it stays until you delete it (OnDelete)',
    });
  });
});

test('defaults and the rule of the webhook', () => {
  const object = copyOf({ ...controlPlane, spec: { version: '1.33.2' } });
  const kind = controlPlaneOf(object);
  kind?.fillDefaults?.(object);
  expect(object.spec).toEqual({
    version: 'v1.33.2',
    replicas: 1,
    rolloutStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
  });
  const other = merged(object, { spec: { rolloutStrategy: { type: 'Other' } } });
  expect(kind?.refusal?.(object, object, true)).toBeUndefined();
  expect(kind?.refusal?.(object, other, true)).toBe(
    'admission webhook "validate.taloscontrolplane.controlplane.cluster.x-k8s.io" denied the request: TalosControlPlane.controlplane.cluster.x-k8s.io "cp" is invalid: spec.rolloutStrategy: Invalid value: "Other": valid values are: ["RollingUpdate" "OnDelete"]',
  );
});
