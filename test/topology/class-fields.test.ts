import { expect, test } from 'vitest';
import { fieldAt, type Json, type JsonObject, objectAt } from '../../src/kubernetes/index.ts';
import messageSchemas from '../../src/runtimehooks/catalog/message-schemas.generated.json' with { type: 'json' };
import { fieldsOf, type PartKind, pathInObject, putAt } from '../../src/runtimehooks/index.ts';
import { type manifests, planned } from './small-class.ts';

const kinds: PartKind[] = ['ControlPlane', 'MachineDeployment', 'MachinePool'];
const cases = kinds.flatMap((kind) => fieldsOf(kind).map((field) => ({ kind, path: field.path, field })));

/** A value of each field that is not its default. */
const samples: Readonly<Record<string, Json>> = {
  replicas: 5,
  'rollout.after': '2020-01-01T00:00:00Z',
  'rollout.strategy': { type: 'OnDelete', rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } },
  'healthCheck.remediation.maxInFlight': 5,
  'deletion.order': 'Oldest',
  'deletion.nodeDrainTimeoutSeconds': 5,
  'deletion.nodeVolumeDetachTimeoutSeconds': 5,
  'deletion.nodeDeletionTimeoutSeconds': 5,
  readinessGates: [{ conditionType: 'text', polarity: 'Negative' }],
  taints: [{ effect: 'NoSchedule', key: 'text', propagation: 'Always', value: 'text' }],
  minReadySeconds: 5,
  failureDomain: 'text',
  failureDomains: ['text'],
};

/** The part of a topology, and of its class. */
function partsOf(all: ReturnType<typeof manifests>, kind: PartKind): { topology: JsonObject; settings: JsonObject } {
  const topology = objectAt(all.cluster.spec, 'topology');
  if (kind === 'ControlPlane') {
    return { topology: objectAt(topology, 'controlPlane'), settings: objectAt(all.clusterClass.spec, 'controlPlane') };
  }
  const [groups, classes] = [objectAt(topology, 'workers'), objectAt(all.clusterClass.spec, 'workers')];
  if (kind === 'MachinePool') {
    const [worker] = classes.machineDeployments as JsonObject[];
    classes.machinePools = [{ ...worker, class: 'pool' }];
    groups.machinePools = [{ class: 'pool', name: 'mp' }];
  }
  const list = kind === 'MachinePool' ? 'machinePools' : 'machineDeployments';
  const [[group], [ofClass]] = [groups[list] as JsonObject[], classes[list] as JsonObject[]];
  return { topology: group as JsonObject, settings: ofClass as JsonObject };
}

/** The object of a part after a change, if that changes it. */
async function madeOf(kind: PartKind, change: (parts: ReturnType<typeof partsOf>) => void): Promise<JsonObject> {
  const made: JsonObject[] = [];
  await planned((all) => change(partsOf(all, kind)), {
    prepare: ({ clusterClass }) => {
      clusterClass.spec.patches = [];
    },
    onObjects: (_, objects) => made.push(...objects.map(({ after }) => objectAt(after))),
  });
  return made.find((object) => object.kind === (kind === 'ControlPlane' ? 'KubeadmControlPlane' : kind)) ?? {};
}

test.each(cases)('$kind: $path of the topology, or else of the class, is carried', async ({ kind, path, field }) => {
  const value = samples[path] as Json;
  const inTopology = await madeOf(kind, ({ topology }) => putAt(topology, path.split('.'), value));
  const inClass = await madeOf(kind, ({ settings }) => putAt(settings, path.split('.'), value));
  expect(fieldAt(inTopology, ...pathInObject(kind, field))).toEqual(value);
  if (field.isOnlyInTopology) {
    expect(fieldAt(inClass, ...pathInObject(kind, field))).not.toEqual(value);
  } else {
    expect(fieldAt(inClass, ...pathInObject(kind, field))).toEqual(value);
  }
});

test.each(kinds)('the table has the fields of %s that Cluster API publishes', (kind) => {
  const { properties } = messageSchemas[`sigs.k8s.io.cluster-api.api.core.v1beta2.${kind}Topology`];
  const handledElsewhere = ['class', 'healthCheck', 'metadata', 'name', 'variables'];
  const published = Object.keys(properties).filter((name) => !handledElsewhere.includes(name));
  const names = fieldsOf(kind).map(({ path }) => path.split('.')[0] ?? '');
  expect(new Set(names.filter((name) => name !== 'healthCheck'))).toEqual(new Set(published));
});
