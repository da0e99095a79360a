import { expect, test } from 'vitest';
import { type JsonObject, lastAppliedAnnotation } from '../../../src/kubernetes/index.ts';
import { userWrites, World } from '../../../src/topology/index.ts';

const apiVersion = 'cluster.x-k8s.io/v1beta2';
const cluster = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind: 'Cluster',
  metadata: { name: 'a', namespace: 'default', ...metadata },
  spec,
});
const topology = { classRef: { name: 'fleet' }, version: 'v1.34.0', variables: [{ name: 'x', value: 1 }] };
const given = { isEdited: false, fieldManager: undefined };
const writes = (
  old: JsonObject | undefined,
  after: JsonObject,
  more: Partial<Parameters<typeof userWrites>[2]> & { others?: readonly JsonObject[] } = {},
) => {
  const { others = [], ...change } = more;
  const before = new World(old === undefined ? [] : [old]);
  return userWrites(before, [after, ...others], { manifests: [], ...given, ...change }).writes.map(
    ({ is, sent, manager }) => ({
      is,
      spec: sent.spec,
      manager,
    }),
  );
};

const next = cluster({ topology: { ...topology, version: 'v1.35.0' } });
const applied = (last: JsonObject) => ({ annotations: { [lastAppliedAnnotation]: JSON.stringify(last) } });
const managed = (manager: string) => ({
  managedFields: [{ manager, operation: 'Apply', apiVersion, time: '2026-01-01T00:00:00Z', fieldsV1: {} }],
});

test('kubectl apply sends what is given, and removes what was applied last', () => {
  const last = cluster({ paused: true, topology: { ...topology, rollout: { after: 'x' } } });
  const old = cluster({ paused: true, topology }, applied(last));
  expect(writes(old, next, { manifests: [next] })).toEqual([
    {
      is: 'merge',
      spec: { paused: null, topology: { ...topology, version: 'v1.35.0', rollout: null } },
      manager: undefined,
    },
  ]);
});

test('what was applied on the server’s side is applied so again, by the same manager or the one that is named', () => {
  const old = cluster({ topology }, managed('kustomize-controller'));
  const spec = next.spec;
  const manifests = [next];
  expect(writes(old, next, { manifests })).toEqual([{ is: 'apply', spec, manager: 'kustomize-controller' }]);
  expect(writes(old, next, { manifests, fieldManager: 'me' })).toEqual([{ is: 'apply', spec, manager: 'me' }]);
  const byController = cluster({ topology }, managed('capi-topology'));
  expect(writes(byController, next, { manifests })).toMatchObject([{ is: 'merge' }]);
});

test('a new object is created, an edit sends version and variables', () => {
  expect(writes(undefined, next, { manifests: [next] })).toEqual([
    { is: 'create', spec: next.spec, manager: undefined },
  ]);
  expect(writes(cluster({ topology }, managed('flux')), next, { isEdited: true })).toEqual([
    {
      is: 'merge',
      spec: { topology: { version: 'v1.35.0', variables: topology.variables } },
      manager: undefined,
    },
  ]);
});

test.each([
  ['an object that stays as it is', cluster({ topology }), []],
  [
    'a Cluster whose class is written as well',
    next,
    [{ apiVersion, kind: 'ClusterClass', metadata: { name: 'fleet', namespace: 'default' }, spec: {} }],
  ],
  [
    'an object whose definition is written as well',
    next,
    [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'clusters.cluster.x-k8s.io' },
        spec: { group: 'cluster.x-k8s.io', names: { kind: 'Cluster' } },
      },
    ],
  ],
])('%s is not sent', (_name, after, others) => {
  const sent = writes(cluster({ topology }), after, { manifests: [after, ...others], others });
  expect(sent.filter(({ spec }) => (spec as JsonObject).topology !== undefined)).toEqual([]);
});
