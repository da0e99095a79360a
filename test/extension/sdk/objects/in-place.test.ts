import { describe, expect, test } from 'vitest';
import {
  checkedUpgradePlan,
  HandlerFailure,
  machinePatches,
  machineSetPatches,
} from '../../../../src/extension/index.ts';
import { requestFor } from '../../../../src/extension/sdk/testing/testing.ts';
import type { CanUpdateMachineRequest, CanUpdateMachineSetRequest } from '../../../../src/runtimehooks/index.ts';

const decoded = (patch: { patchType: string; patch: string } | undefined) =>
  patch && [patch.patchType, JSON.parse(Buffer.from(patch.patch, 'base64').toString())];

const request = (current: object, desired: object) => ({ current, desired }) as unknown as CanUpdateMachineRequest;

describe('patches of a machine', () => {
  const current = {
    machine: { spec: { version: 'v1', other: 1 } },
    infrastructureMachine: { spec: { cpus: 1 } },
    bootstrapConfig: { spec: { a: 1, b: 2 } },
  };
  const desired = {
    machine: { spec: { version: 'v2', other: 2 } },
    infrastructureMachine: { spec: { cpus: 2 } },
    bootstrapConfig: { spec: { a: 1 } },
  };

  test('contain the fields that can be changed, of each object', () => {
    const before = structuredClone(current);
    const patches = machinePatches(request(current, desired), {
      machine: ['spec.version'],
      infrastructureMachine: ['spec.cpus', 'spec.none'],
      bootstrapConfig: ['spec.a', 'spec.b'],
    });
    expect(Object.entries(patches).map(([name, patch]) => [name, decoded(patch)])).toEqual([
      ['machinePatch', ['JSONPatch', [{ op: 'replace', path: '/spec/version', value: 'v2' }]]],
      ['infrastructureMachinePatch', ['JSONPatch', [{ op: 'replace', path: '/spec/cpus', value: 2 }]]],
      ['bootstrapConfigPatch', ['JSONPatch', [{ op: 'remove', path: '/spec/b' }]]],
    ]);
    expect(current).toEqual(before);
  });

  test('are absent if nothing changes, nothing can be changed, or there is no object', () => {
    expect(machinePatches(request(current, current), { machine: ['spec.version'] })).toEqual({});
    expect(machinePatches(request(current, desired), {})).toEqual({});
    expect(machinePatches(request(current, desired), { machine: ['spec["a.b"]'] })).toEqual({});
    expect(machinePatches(request(current, desired), { machine: undefined as never })).toEqual({});
    expect(machinePatches(request({}, desired), { machine: ['spec.version'] })).toEqual({});
    expect(machinePatches(request(current, {}), { machine: ['spec.version'] })).toEqual({});
  });

  test('of a MachineSet use its objects', () => {
    const machineSet = (a: number) => ({ machineSet: { spec: { template: { spec: { a } } } } });
    const sets = { current: machineSet(1), desired: machineSet(2) };
    const { machineSetPatch, ...others } = machineSetPatches(sets as unknown as CanUpdateMachineSetRequest, {
      machineSet: ['spec.template.spec.a'],
    });
    expect([decoded(machineSetPatch), others]).toEqual([
      ['JSONPatch', [{ op: 'replace', path: '/spec/template/spec/a', value: 2 }]],
      {},
    ]);
  });
});

test.each<[() => object, string]>([
  [
    () => machinePatches(request({}, {}), { machine: ['metadata.labels.a'] }),
    'machine: "metadata.labels.a" is not in spec,',
  ],
  [
    () => machinePatches(request({}, {}), { machine: ['spec.a'], bootstrapConfig: ['specs.a'] }),
    'bootstrapConfig: "specs.a"',
  ],
  [
    () => machineSetPatches(request({}, {}) as never, { machineSet: ['spec.template.spec.a', 'spec.version'] }),
    'machineSet: "spec.version" is not in spec.template.spec, which is all that Cluster API takes: give a path such as',
  ],
])('a path whose change Cluster API would drop is an error: %s', (patches, message) => {
  expect(patches).toThrow(TypeError);
  expect(patches).toThrow(message);
});

describe('an upgrade plan', () => {
  const asked = {
    ...requestFor('GenerateUpgradePlan'),
    fromControlPlaneKubernetesVersion: 'v1.30.0',
    fromWorkersKubernetesVersion: '',
    toKubernetesVersion: 'v1.31.0',
  };

  test('is returned as it is if it is valid', () => {
    const plan = { controlPlaneUpgrades: [{ version: 'v1.31.0' }] };
    expect(checkedUpgradePlan(asked, plan)).toBe(plan);
  });

  test('is a failure with its first five problems if it is not', () => {
    const wrong = { controlPlaneUpgrades: Array.from({ length: 6 }, (_, index) => ({ version: `x${index}` })) };
    let failure: unknown;
    try {
      checkedUpgradePlan(asked, wrong);
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(HandlerFailure);
    const { message } = failure as Error;
    expect(message).toMatch(/^the upgrade plan is not valid: controlPlaneUpgrades\[0\]: "x0" is not a version/);
    expect(message.split('; ')).toHaveLength(5);
    expect(message).not.toContain('x5');
  });
});
