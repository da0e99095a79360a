import { expect, test } from 'vitest';
import { copyOf, type Json, type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { plan, prepared, World } from '../../../src/topology/index.ts';
import { manifests, verdictsOf } from '../small-class.ts';

const cluster = manifests().cluster as unknown as JsonObject;

/** The small class, without its patch, and its Cluster in a namespace. */
function within(namespace: string): JsonObject[] {
  const all = manifests();
  all.clusterClass.spec.patches = [];
  return (Object.values(all) as unknown as JsonObject[]).map((object) => ({
    ...object,
    metadata: { ...objectAt(object, 'metadata'), namespace },
  }));
}

const upgraded = (objects: readonly JsonObject[]): JsonObject[] =>
  objects.map((object) => {
    const copy = copyOf(object as Json) as JsonObject;
    if (copy.kind === 'Cluster') {
      objectAt(copy, 'spec', 'topology').version = 'v1.35.1';
    }
    return copy;
  });

/** The verdicts of an upgrade of a Cluster in each of two namespaces, by namespace, and the problems. */
async function upgrade(unread: World['unread']) {
  const objects = ['a', 'b'].flatMap((namespace) =>
    within(namespace).filter(
      ({ kind }) => !unread.some((one) => one.kind === kind && (one.namespace ?? namespace) === namespace),
    ),
  );
  const { clusters } = await plan(new World(objects, { unread }), new World(upgraded(objects), { unread }), {
    now: new Date('2026-11-26T00:00:00Z'),
  });
  return clusters.map(({ groups, problems }) => [
    ...new Set(groups.map(({ verdict }) => verdict)),
    ...problems.map(({ text }) => text),
  ]);
}

const why = 'forbidden: the permission to list smallmachinetemplates.infrastructure.example.com (b) is missing';
const templates = { group: 'infrastructure.example.com', kind: 'SmallMachineTemplate', why };

test.each<[string, World['unread'], string[][]]>([
  ['everything was read', [], [['replaced'], ['replaced']]],
  [
    'templates of one namespace: only its Clusters',
    [{ ...templates, namespace: 'b' }],
    [['replaced'], ['unknown', why]],
  ],
  [
    'templates of all namespaces',
    [templates],
    [
      ['unknown', why],
      ['unknown', why],
    ],
  ],
  [
    'MachineDeployments of one namespace',
    [{ group: 'cluster.x-k8s.io', kind: 'MachineDeployment', namespace: 'a', why: 'no' }],
    [['unknown', 'no'], ['replaced']],
  ],
  [
    'a kind that no Cluster needs',
    [{ group: 'infrastructure.example.com', kind: 'Other', why: 'no' }],
    [['replaced'], ['replaced']],
  ],
])('what could not be read: %s', async (_, unread, expected) => {
  expect(await upgrade(unread)).toEqual(expected);
});

test('without the Machines, it is not known what becomes of each group, and why', async () => {
  const objects = within('a');
  const unread = [{ group: 'cluster.x-k8s.io', kind: 'Machine', why: 'no Machines' }];
  const world = (some: readonly JsonObject[]) => new World(some, { unread });
  const result = await plan(world(objects), world(upgraded(objects)), { now: new Date() });
  expect(verdictsOf(result)).toEqual({ 'control-plane': 'unknown', md: 'unknown' });
  expect(result.clusters[0]?.groups.map(({ problems = [] }) => problems[0]?.text)).toEqual([
    'no Machines',
    'no Machines',
  ]);
});

test('if it is not known which extensions there are, none is asked', async () => {
  const unread = [{ group: 'runtime.cluster.x-k8s.io', kind: 'ExtensionConfig', why: 'no ExtensionConfigs' }];
  const world = new World([], { unread, call: () => Promise.reject(new Error('asked')) });
  const { namespace = '', name = '' } = objectAt(cluster, 'metadata') as Record<string, string>;
  const call = {
    state: 'after',
    hook: 'CanUpdateMachine',
    handler: '',
    request: {},
    object: { namespace, name },
  } as const;
  await expect(world.call?.(call)).rejects.toThrow('no ExtensionConfigs');
});

test('an object is prepared once for all, with what plans read of it', () => {
  const managers = [
    { manager: 'flux', operation: 'Apply', apiVersion: 'v1', time: 'now', fieldsV1: { 'f:spec': {}, 'f:status': {} } },
    { manager: 'capi', operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': {} } },
  ];
  const stored = (kind: string): JsonObject => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind,
    metadata: { name: 'x', generation: 3, finalizers: ['a'], annotations: { a: 'b' }, managedFields: managers },
    spec: { a: 1 },
    status: {
      version: 'v1.35.0',
      phase: 'Running',
      conditions: [
        { type: 'Deleting', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    },
  });
  const kept = prepared(stored('Cluster'));
  expect(kept).toEqual({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: {
      name: 'x',
      annotations: { a: 'b' },
      managedFields: [
        { manager: 'flux', operation: 'Apply', apiVersion: 'v1', time: 'now', fieldsV1: { 'f:spec': {} } },
      ],
    },
    spec: { a: 1 },
    status: { version: 'v1.35.0', conditions: [{ type: 'Deleting', status: 'True' }] },
  });
  expect(prepared(kept)).toEqual(kept);
  expect(objectAt(prepared(stored('Machine')), 'metadata').managedFields).toBeUndefined();
});
