import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type HookName, hooks } from '../../../src/runtimehooks/index.ts';
import { objectOf } from '../../../src/runtimehooks/messages/index.ts';

describe('the object of a request', () => {
  const builtin = (value: unknown) => ({
    variables: [
      { name: 'other', value: 1 },
      { name: 'builtin', value },
    ],
  });
  const machine = { metadata: { namespace: 'ns', name: 'm', uid: 'u' }, spec: { clusterName: 'lab' } };
  const object = (name: string, uid?: string, namespace = 'ns') => ({ namespace, name, uid, cluster: 'lab' });

  test.each<[string, HookName, object, object | undefined]>([
    [
      'is its Cluster',
      'BeforeClusterCreate',
      { cluster: { metadata: { namespace: 'ns', name: 'lab', uid: 'u' } } },
      object('lab', 'u'),
    ],
    [
      'may have no namespace',
      'BeforeClusterCreate',
      { cluster: { metadata: { name: 'lab' } } },
      object('lab', undefined, ''),
    ],
    ['needs the name of a Cluster', 'BeforeClusterCreate', { cluster: { metadata: { namespace: 'ns' } } }, undefined],
    ['is not looked for elsewhere', 'BeforeClusterCreate', builtin({ cluster: { name: 'lab' } }), undefined],
    [
      'is in the variables',
      'GeneratePatches',
      builtin({ cluster: { namespace: 'ns', name: 'lab', uid: 'u' } }),
      object('lab', 'u'),
    ],
    [
      'is a machine, even if a request has a Cluster too',
      'UpdateMachine',
      { cluster: { metadata: { name: 'other', uid: 'c' } }, desired: { machine } },
      object('m', 'u'),
    ],
    ['is not in the variables', 'ValidateTopology', builtin({}), undefined],
    ['needs the builtin variable', 'ValidateTopology', { variables: [] }, undefined],
    ['is not in variables that are not a list', 'ValidateTopology', { variables: 'x' }, undefined],
    ['is a machine', 'CanUpdateMachine', { desired: { machine } }, object('m', 'u')],
    [
      'is a set',
      'CanUpdateMachineSet',
      { desired: { machineSet: { metadata: { namespace: 'ns' }, spec: { clusterName: 'lab' } } } },
      object(''),
    ],
    ['is nowhere', 'DiscoverVariables', {}, undefined],
  ])('%s: %s', (_, hook, request, expected) => {
    expect(objectOf(hooks[hook], request as JsonObject)).toEqual(expected);
  });
});
