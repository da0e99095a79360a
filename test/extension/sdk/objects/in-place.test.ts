import { describe, expect, test } from 'vitest';
import { defineInPlaceChanges, type UpdatableFields } from '../../../../src/extension/index.ts';
import type { CanUpdateMachineRequest, CanUpdateMachineSetRequest } from '../../../../src/runtimehooks/index.ts';

const operationsOf = (patches: object) =>
  Object.fromEntries(
    Object.entries(patches as Record<string, { patch: string }>).map(([name, { patch }]) => [
      name,
      JSON.parse(Buffer.from(patch, 'base64').toString()),
    ]),
  );

const machineRequest = (current: object, desired: object) =>
  ({ current, desired }) as unknown as CanUpdateMachineRequest;

describe('patches of a machine', () => {
  const current = {
    machine: { spec: { version: 'v1', failureDomain: 'a' } },
    infrastructureMachine: {
      kind: 'LabMachine',
      spec: { cpus: 1, disks: [{ size: 1, name: 'a' }], labels: { a: '1', b: '2' } },
    },
    bootstrapConfig: { kind: 'KubeadmConfig', spec: { files: [], users: [1] } },
  };
  const desired = {
    machine: { spec: { version: 'v2', failureDomain: 'b' } },
    infrastructureMachine: {
      kind: 'LabMachine',
      spec: { cpus: 2, disks: [{ size: 2, name: 'b' }, { size: 3 }], labels: { a: '2', c: '3' } },
    },
    bootstrapConfig: { kind: 'KubeadmConfig', spec: { files: [{ path: '/a' }], users: [2] } },
  };
  const patchesOf = (fields: UpdatableFields) =>
    operationsOf(defineInPlaceChanges(fields).machinePatches(machineRequest(current, desired)));

  test.each<[string, UpdatableFields, object]>([
    ['nothing', {}, {}],
    [
      'the machine',
      { machine: ['spec.version'] },
      { machinePatch: [{ op: 'replace', path: '/spec/version', value: 'v2' }] },
    ],
    [
      'fields of which an object need not have all',
      { infrastructureMachine: { LabMachine: ['spec.cpus', 'spec.none'] } },
      { infrastructureMachinePatch: [{ op: 'replace', path: '/spec/cpus', value: 2 }] },
    ],
    [
      'objects by kind',
      { bootstrapConfig: { KubeadmConfig: ['spec.files'], OtherConfig: ['spec.users'] } },
      { bootstrapConfigPatch: [{ op: 'add', path: '/spec/files/0', value: { path: '/a' } }] },
    ],
    ['objects of another kind', { bootstrapConfig: { OtherConfig: ['spec.files'] } }, {}],
    [
      'a field of all items of a list that both have',
      { infrastructureMachine: { LabMachine: ['spec.disks[*].size'] } },
      { infrastructureMachinePatch: [{ op: 'replace', path: '/spec/disks/0/size', value: 2 }] },
    ],
    [
      'all fields of an object',
      { infrastructureMachine: { LabMachine: ['spec.labels.*'] } },
      {
        infrastructureMachinePatch: [
          { op: 'replace', path: '/spec/labels/a', value: '2' },
          { op: 'remove', path: '/spec/labels/b' },
          { op: 'add', path: '/spec/labels/c', value: '3' },
        ],
      },
    ],
  ])('%s', (_, fields, patches) => {
    const before = structuredClone(current);
    expect(patchesOf(fields)).toEqual(patches);
    expect(current).toEqual(before);
  });

  test('all fields of an object have any names', () => {
    const labelled = (labels: string) => ({
      infrastructureMachine: JSON.parse(`{"kind":"Lab","spec":{"labels":${labels}}}`),
    });
    const changes = defineInPlaceChanges({ infrastructureMachine: { Lab: ['spec.labels.*'] } });
    const request = machineRequest(labelled('{}'), labelled('{"__proto__":"a"}'));
    expect(operationsOf(changes.machinePatches(request))).toEqual({
      infrastructureMachinePatch: [{ op: 'add', path: '/spec/labels/__proto__', value: 'a' }],
    });
  });

  test('are absent if nothing changes, and if there is no object', () => {
    const changes = defineInPlaceChanges({ machine: ['spec.version'] });
    expect(changes.machinePatches(machineRequest(current, current))).toEqual({});
    expect(changes.machinePatches(machineRequest({}, desired))).toEqual({});
    expect(changes.machinePatches(machineRequest(current, {}))).toEqual({});
  });
});

test('the same fields apply to the templates of a MachineSet', () => {
  const set = (version: string, files: string[]) => ({
    machineSet: { spec: { template: { spec: { version } } } },
    bootstrapConfigTemplate: { kind: 'KubeadmConfigTemplate', spec: { template: { spec: { files } } } },
  });
  const request = { current: set('v1', []), desired: set('v2', ['a']) } as unknown as CanUpdateMachineSetRequest;
  const changes = defineInPlaceChanges({
    machine: ['spec.version'],
    bootstrapConfig: { KubeadmConfig: ['spec.files'] },
  });
  expect(operationsOf(changes.machineSetPatches(request))).toEqual({
    machineSetPatch: [{ op: 'replace', path: '/spec/template/spec/version', value: 'v2' }],
    bootstrapConfigTemplatePatch: [{ op: 'add', path: '/spec/template/spec/files/0', value: 'a' }],
  });
});

test.each<[UpdatableFields, string]>([
  [
    { machine: ['metadata.labels.a'] },
    'machine: "metadata.labels.a" is not in spec, and Cluster API uses nothing else',
  ],
  [
    { machine: ['spec.version'], bootstrapConfig: { KubeadmConfig: ['specs.a'] } },
    'bootstrapConfig: "specs.a" is not in spec',
  ],
  [{ infrastructureMachine: { LabMachine: ['spec'] } }, 'infrastructureMachine: "spec" is not in spec'],
  [{ machine: ['spec.versoin'] }, 'machine: "spec.versoin" is not a field of a Machine: versoin is not known'],
  [{ bootstrapConfig: { KubeadmConfigTemplate: ['spec.files'] } }, 'bootstrapConfig: write KubeadmConfig, which also'],
  [{ machine: ['spec.bootstrap.configRef.nam'] }, 'machine: "spec.bootstrap.configRef.nam" is not a field'],
])('paths that could not have an effect are refused: %j', (fields, message) => {
  expect(() => defineInPlaceChanges(fields)).toThrow(TypeError);
  expect(() => defineInPlaceChanges(fields)).toThrow(message);
});

test.each([
  'spec.bootstrap.configRef.name',
  'spec.taints[*].key',
  'spec.readinessGates',
])('a Machine has %s', (path) => {
  expect(() => defineInPlaceChanges({ machine: [path] })).not.toThrow();
});
