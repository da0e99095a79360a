import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  copyOf,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  textAt,
} from '../../src/kubernetes/index.ts';
import { layered, type Plan, type PlanRequest, plan, prepared, World } from '../../src/topology/index.ts';
import { testRows } from '../support/rows.ts';
import { runs } from '../support/runs.ts';
import { recordedChanges } from './recorded.ts';
import { controlPlanes, manifests, patch } from './small-class.ts';

const now = new Date('2026-11-24T12:00:00Z');

/** The plan of all Clusters at once, after a check that it is that of each of them alone. */
async function checkedPlan(
  [before, after]: readonly [World, World],
  request: Partial<PlanRequest> = {},
): Promise<Plan> {
  const all = await plan(before, after, { now, ...request });
  for (const made of all.clusters) {
    const isPlanned = (namespace: string, name: string) => `${namespace}/${name}` === made.cluster;
    const { clusters } = await plan(before, after, { now, ...request, isPlanned });
    expect(JSON.stringify(made)).toBe(JSON.stringify(clusters[0]));
  }
  return all;
}

/** The Cluster that an object belongs to. */
const ownerOf = (object: JsonObject): string =>
  object.kind === 'Cluster'
    ? nameOf(object)
    : textAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name') || textAt(object, 'spec', 'clusterName');

/** The objects of a Cluster as those of another one, with names, ids and times of its own. */
function asOther(objects: readonly JsonObject[], name: string, other: string): JsonObject[] {
  let count = 0;
  const seed = [...other].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7);
  const ownSuffix = () => ((seed * 7919 + ++count * 104_729) % 36 ** 5).toString(36).padStart(5, 'x');
  let text = JSON.stringify(objects);
  for (const own of new Set(objects.map(nameOf))) {
    if (own !== name && own.startsWith(name)) {
      text = text.replaceAll(`"${own}"`, `"${own.replace(/[a-z0-9]{5}$/, ownSuffix)}"`);
    }
  }
  return JSON.parse(
    text
      .replaceAll(new RegExp(`\\b${name}\\b`, 'g'), other)
      .replaceAll(/"(uid|resourceVersion|providerID)":"[^"]*"/g, (_, field) => `"${field}":"${other} ${ownSuffix()}"`)
      .replaceAll(/(\d{4}-\d\d-\d\dT\d\d:\d\d:)\d\dZ/g, (_, time) => `${time}${10 + (seed % 50)}Z`),
  ) as JsonObject[];
}

/** A recorded state with several Clusters instead of one. */
function fleetOf(objects: readonly JsonObject[], names: readonly string[]): JsonObject[] {
  const cluster = objects.find(({ kind }) => kind === 'Cluster') ?? {};
  const own = objects.filter((object) => ownerOf(object) === nameOf(cluster));
  const shared = objects.filter((object) => !own.includes(object));
  return [...shared, ...names.flatMap((name) => asOther(own, nameOf(cluster), name))].map(prepared);
}

const names = ['prod-1', 'prod-2', 'prod-3', 'fleet'];

testRows(
  'Clusters that were recorded are planned together as alone',
  recordedChanges.map((change) => [change.name, change] as const),
  async (change) => {
    const before = fleetOf(change.before, names);
    const after = layered(before, fleetOf(change.after, names));
    const { clusters } = await checkedPlan([new World(before), new World(after)]);
    expect(clusters.length).toBe(names.length);
  },
);

test('ids, and times that no rollout depends on, are not read', async () => {
  const left =
    /"(?:uid|resourceVersion|providerID|certificatesExpiryDate|lastTransitionTime|machine.cluster.x-k8s.io\/certificates-expiry)":"[^"]*",?/g;
  const without = (objects: readonly JsonObject[]): JsonObject[] =>
    JSON.parse(JSON.stringify(objects).replaceAll(left, '').replaceAll(',}', '}')) as JsonObject[];
  for (const { before, after } of recordedChanges) {
    const [all, less] = await Promise.all(
      [(of: readonly JsonObject[]) => of, without].map((keep) =>
        plan(new World(keep(before).map(prepared)), new World(layered(keep(before), keep(after)).map(prepared)), {
          now,
        }),
      ),
    );
    expect(less).toEqual(all);
  }
});

/** A state of the small class with Clusters of these names. */
function small(clusters: readonly string[], change: (all: ReturnType<typeof manifests>, name: string) => void): World {
  const all = manifests();
  change(all, '');
  const { cluster: _cluster, ...shared } = all;
  const own = clusters.map((name) => {
    const one = manifests();
    one.cluster.metadata.name = name;
    change(one, name);
    return one.cluster as JsonObject;
  });
  return new World([...(Object.values(shared) as unknown as JsonObject[]), ...own]);
}

const newPatch = (name: string, value: JsonObject, enabledIf?: string) =>
  patch(name, 'spec/kubeadmConfigSpec/postKubeadmCommands', value, controlPlanes, enabledIf);

const addPatches =
  (...patches: JsonObject[]) =>
  (all: ReturnType<typeof manifests>) => {
    (all.clusterClass.spec.patches as JsonObject[]).push(...patches);
  };

const inText = (text: string) => ({ valueFrom: { template: `- ${text}` } });

/** Some have the letters of others, and some are words of the class, of topologies, of plans or of the program. */
const sharpNames = [
  ...['prod-1', 'prod-2', 'prod-3', 'test-1', 'test-2', 'prod-11', 'prod-12', 'prod-1.a', 'prod-2.b', 'prod-1-md'],
  ...['small', 'worker', 'md', 'default', 'cluster', 'control-plane', 'version', 'replaced', 'x', 'n', '3'],
];

describe('patches that read the name of a Cluster', () => {
  testRows(
    'are planned together as alone',
    [
      inText('echo {{ .builtin.cluster.name }}'),
      inText('{{ if eq .builtin.cluster.name "prod-2" }}a{{ else }}b{{ end }}'),
      inText('{{ hasPrefix "prod" .builtin.cluster.name }}'),
      inText('{{ len .builtin.cluster.name }}'),
      inText('{{ .builtin.cluster.name | sha256sum }}'),
      inText('{{ .builtin.cluster.name | upper }}'),
      inText('{{ trunc 3 .builtin.cluster.name }}{{ with .builtin }}{{ .cluster.name }}{{ end }}'),
      inText('{{ range $key, $value := .builtin.cluster }}{{ $key }}{{ $value }}{{ end }}'),
      inText('{{ toJson . | quote }}'),
      inText('{{ index .builtin "cluster" "name" }}'),
      inText('{{ (pick .builtin.cluster "name").name }}{{ (values (pick .builtin.cluster "name")) }}'),
      inText('{{ has .builtin.cluster.name (list "test-1" "prod-3") }}'),
      inText('{{ deepEqual .builtin.cluster (dict "name" "prod-1") }}'),
      inText('{{ if eq .builtin.cluster.name "prod-3" }}{{ fail "no" }}{{ end }}'),
      inText('{{ if eq .builtin.cluster.name "prod-3" }}{{ now }}{{ end }}'),
      inText('{{ .builtin.controlPlane.name }}'),
      inText('{{ len .builtin.controlPlane.machineTemplate.infrastructureRef.name }}'),
      inText('{{ index .builtin.cluster.metadata.labels "cluster.x-k8s.io/cluster-name" }}'),
      inText('{{ set .builtin.cluster "name" "same" | len }}{{ .builtin.cluster.uid }}'),
      { valueFrom: { variable: 'builtin.cluster.name' } },
      { valueFrom: { variable: 'builtin.cluster.metadata' } },
    ].map((value) => [JSON.stringify(value), value] as const),
    async (value) => {
      const { clusters } = await checkedPlan([
        small(sharpNames, () => {}),
        small(sharpNames, addPatches(newPatch('new', value))),
      ]);
      expect(clusters.length).toBe(sharpNames.length);
    },
  );

  test('are enabled for some of them', async () => {
    const enabledIf = '{{ hasSuffix "1" .builtin.cluster.name }}';
    const { clusters } = await checkedPlan([
      small(sharpNames, () => {}),
      small(sharpNames, addPatches(newPatch('new', { value: ['echo'] }, enabledIf))),
    ]);
    const replaced = clusters.filter(({ groups }) => groups.some(({ verdict }) => verdict === 'replaced'));
    expect(replaced.map(({ cluster }) => cluster)).toEqual(
      ['prod-1', 'test-1', 'prod-11'].map((name) => `default/${name}`),
    );
  });
});

test('a schema that accepts what contains some names only is asked for each', async () => {
  const labels = { type: 'string', pattern: '^prod' };
  const spec = { type: 'object', properties: { size: labels }, 'x-kubernetes-preserve-unknown-fields': true };
  const root = (of: JsonObject) => ({ type: 'object', properties: { spec: of } });
  const inTemplate = { type: 'object', properties: { template: root(spec) } };
  const definitions = [['SmallMachineTemplate', root(inTemplate)] as const, ['SmallMachine', root(spec)] as const].map(
    ([kind, openAPIV3Schema]) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${kind.toLowerCase()}s.infrastructure.example.com` },
      spec: {
        group: 'infrastructure.example.com',
        names: { kind, plural: `${kind.toLowerCase()}s` },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    }),
  );
  const selector = {
    apiVersion: 'infrastructure.example.com/v1',
    kind: 'SmallMachineTemplate',
    matchResources: { controlPlane: true },
  };
  const value = { valueFrom: { variable: 'builtin.cluster.name' } };
  const [before, after] = [() => {}, addPatches(patch('size', 'spec/size', value, selector))].map((change) => {
    const state = small(['prod-1', 'prod-2', 'prod-3', 'test-1', 'test-2', 'test-3'], change);
    return state.withObjects([...definitions, ...state]);
  }) as [World, World];
  const { sum } = await checkedPlan([before, after]);
  expect(sum.notApplied).toBe(3);
});

/** What may differ between Clusters. */
const differences: readonly ((all: ReturnType<typeof manifests>) => void)[] = [
  () => {},
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology').version = 'v1.33.0';
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology').variables = [{ name: 'label', value: 'other' }];
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology').variables = [{ name: 'label', value: nameOf(cluster) }];
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology').variables = [{ name: 'nosuch', value: 1 }];
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology', 'controlPlane').replicas = 5;
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology', 'workers').machineDeployments = [
      { class: 'worker', name: nameOf(cluster), replicas: 1 },
    ];
  },
  ({ cluster }) => {
    cluster.metadata.labels = { team: nameOf(cluster) };
  },
  ({ cluster }) => {
    cluster.metadata.annotations = { team: 'a' };
  },
  ({ cluster }) => {
    cluster.spec.paused = true;
  },
  ({ cluster }) => {
    objectAt(cluster.spec, 'topology', 'classRef').name = 'nosuch';
  },
  ({ cluster }) => {
    cluster.metadata.namespace = 'other';
    objectAt(cluster.spec, 'topology', 'classRef').namespace = 'default';
  },
];

/** What becomes of the class: also what Cluster API refuses, where it stops, and what is not known. */
const classChanges: readonly ((all: ReturnType<typeof manifests>) => void)[] = [
  () => {},
  addPatches(newPatch('echo', inText('echo {{ .builtin.cluster.name }} {{ .label }}'))),
  addPatches(newPatch('team', inText('{{ index .builtin.cluster.metadata.labels "team" }}'))),
  addPatches(newPatch('replicas', inText('{{ .builtin.controlPlane.replicas }}'))),
  addPatches(newPatch('stops', inText('{{ eq .builtin.controlPlane.replicas 3 }}'))),
  addPatches(newPatch('fails', inText('{{ .builtin.cluster.name | fail }}'))),
  addPatches(newPatch('unknown', inText('{{ genCA "ca" 1 }}'))),
  addPatches({ name: 'external', external: { generatePatchesExtension: 'handler.nosuch' } }),
  addPatches(newPatch('refused', { value: [{ no: 'command' }] })),
  (all) => {
    all.workerMachines.metadata.name = 'other';
  },
  (all) => {
    objectAt(all.clusterClass.spec, 'controlPlane').healthCheck = { checks: { nodeStartupTimeoutSeconds: 900 } };
  },
  ({ clusterClass }) => {
    clusterClass.spec.variables = [];
  },
];

test('Clusters of random fleets are planned together as alone', async () => {
  const difference = fc.constantFrom(...differences);
  const cluster = fc.tuple(fc.constantFrom(...sharpNames), difference, difference);
  const clusters = fc.uniqueArray(cluster, { minLength: 2, maxLength: 12, selector: ([name]) => name });
  await fc.assert(
    fc.asyncProperty(clusters, fc.constantFrom(...classChanges), async (fleet, change) => {
      const state = (which: 1 | 2, ofClass: typeof change) =>
        small(
          fleet.map(([name]) => name),
          (all, name) => (name === '' ? ofClass : fleet.find(([own]) => own === name)?.[which])?.(all),
        );
      await checkedPlan([state(1, () => {}), state(2, change)]);
    }),
    { numRuns: runs(40) },
  );
});

/** A recorded fleet in which some Clusters are not as the others. */
const odd: Readonly<Record<string, (own: JsonObject[]) => void>> = {
  'a Machine less': (own) =>
    own.splice(
      own.findIndex(({ kind }) => kind === 'Machine'),
      1,
    ),
  'a Machine that is deleted': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'Machine'),
      'metadata',
    ).deletionTimestamp = '2026-11-24T12:00:00Z';
  },
  'a Machine of another version': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'Machine'),
      'spec',
    ).version = 'v1.33.1';
  },
  'a control plane that somebody changed': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'KubeadmControlPlane'),
      'spec',
    ).replicas = 1;
  },
  'other commands': (own) => {
    const spec = objectAt(
      own.find(({ kind }) => kind === 'KubeadmControlPlane'),
      'spec',
      'kubeadmConfigSpec',
    );
    spec.preKubeadmCommands = ['echo fleet'];
  },
  'a condition': (own) => {
    const conditions = [{ type: 'TopologyReconciled', status: 'False', reason: 'ReconcileFailed', message: 'no' }];
    objectAt(own.find(({ kind }) => kind === 'Cluster')).status = { conditions };
  },
  'an object that belongs to nobody': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'KubeadmControlPlane'),
      'metadata',
    ).labels = {};
  },
  'a pause': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'Cluster'),
      'spec',
    ).paused = true;
  },
  'a deletion order': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'MachineDeployment'),
      'spec',
    ).deletion = { order: 'Newest' };
  },
  'another endpoint': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'Cluster'),
      'spec',
    ).controlPlaneEndpoint = { host: 'own.example', port: 1 };
  },
  'a host that is too long for a pattern': (own) => {
    objectAt(
      own.find(({ kind }) => kind === 'Cluster'),
      'spec',
    ).controlPlaneEndpoint = { host: 'a'.repeat(1_000_000), port: 1 };
  },
};

testRows('what differs is not lost', Object.entries(odd), async (differ) => {
  for (const name of ['K-etcd', 'upgrade-1.35']) {
    const { before, after } = recordedChanges.find((change) => change.name === name)!;
    const all = ['prod-1', 'prod-2', 'prod-3', 'prod-4'];
    const from = fleetOf(before, all);
    const changed = from.filter((object) => ['prod-2', 'prod-4'].includes(ownerOf(object)));
    const own = Map.groupBy(copyOf(changed as Json[]) as JsonObject[], ownerOf);
    for (const objects of own.values()) {
      differ(objects);
    }
    const others = from.filter((object) => !changed.includes(object));
    const state = [...others, ...[...own.values()].flat()];
    const wanted = fleetOf(after, all).filter(({ kind }) => kind !== 'Cluster' || name !== 'audit-level');
    await checkedPlan([new World(state), new World(layered(state, wanted))], { explains: true });
  }
});

test('a fleet is not read again for each Cluster that is like another', async () => {
  const { before, after } = recordedChanges.find(({ name }) => name === 'K-etcd')!;
  const all = ['prod-1', 'prod-2', 'prod-3', 'prod-4'];
  const reads = new Map<string, number>();
  const counted = fleetOf(before, all).map((object) => {
    const { spec, ...rest } = object;
    const owner = ownerOf(object);
    return object.kind === 'KubeadmControlPlane'
      ? (Object.defineProperty(rest, 'spec', {
          enumerable: true,
          get() {
            reads.set(owner, (reads.get(owner) ?? 0) + 1);
            return spec;
          },
        }) as JsonObject)
      : object;
  });
  const isShared = (object: JsonObject) => ownerOf(object) === '' && namespaceOf(object) !== '';
  const changed = new Map(after.filter(isShared).map((object) => [`${object.kind} ${nameOf(object)}`, object]));
  const state = counted.map((object) => changed.get(`${object.kind} ${nameOf(object)}`) ?? object);
  const { sum } = await plan(new World(counted), new World(state), { now });
  expect(sum.replaced).toBe(12);
  const [first = 0, second = 0, third = 0, fourth = 0] = all.map((name) => reads.get(name) ?? 0);
  // The second one shows that the plan of the first one is right.
  expect(Math.min(first, second)).toBeGreaterThan(50);
  expect(Math.max(third, fourth)).toBeLessThan(10);
});
