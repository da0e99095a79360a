import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { objectOf } from '../../../src/runtimehooks/messages/index.ts';

describe('the object of a request', () => {
  const builtin = (value: unknown) => ({
    variables: [
      { name: 'other', value: 1 },
      { name: 'builtin', value },
    ],
  });
  const object = (name: string, uid?: string, namespace = 'ns') => ({ namespace, name, uid, cluster: 'lab' });

  test.each<[string, object, object | undefined]>([
    ['is its Cluster', { cluster: { metadata: { namespace: 'ns', name: 'lab', uid: 'u' } } }, object('lab', 'u')],
    ['may have no namespace', { cluster: { metadata: { name: 'lab' } } }, object('lab', undefined, '')],
    ['needs the name of a Cluster', { cluster: { metadata: { namespace: 'ns' } } }, undefined],
    [
      'is not looked for elsewhere',
      { cluster: {}, desired: { machine: { metadata: {}, spec: { clusterName: 'x' } } } },
      undefined,
    ],
    ['is in the variables', builtin({ cluster: { namespace: 'ns', name: 'lab', uid: 'u' } }), object('lab', 'u')],
    ['is not in the variables', builtin({}), undefined],
    ['needs the builtin variable', { variables: [] }, undefined],
    ['is not in variables that are not a list', { variables: 'x' }, undefined],
    [
      'is a machine',
      { desired: { machine: { metadata: { namespace: 'ns', name: 'm', uid: 'u' }, spec: { clusterName: 'lab' } } } },
      object('m', 'u'),
    ],
    [
      'is a set',
      { desired: { machineSet: { metadata: { namespace: 'ns' }, spec: { clusterName: 'lab' } } } },
      object(''),
    ],
    ['is nowhere', {}, undefined],
  ])('%s', (_, request, expected) => {
    expect(objectOf(request as JsonObject)).toEqual(expected);
  });
});
