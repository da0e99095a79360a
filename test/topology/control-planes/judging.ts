import { type JsonObject, objectAt, textAt } from '../../../src/kubernetes/index.ts';
import type { GroupPlan } from '../../../src/topology/index.ts';
import { type ExistingMachine, judgeGroup, type PlanOptions } from '../../../src/topology/rollout/index.ts';
import { merged } from '../rollout/groups.ts';

/**
 * What becomes of the Machines of a control plane that is changed by a JSON merge patch.
 *
 * @param versions of the steps of an upgrade, that before the change included. Default: the one after it.
 */
export function judged(
  before: JsonObject,
  patch: JsonObject,
  machines?: readonly ExistingMachine[],
  options: Partial<PlanOptions> = {},
  versions?: string[],
): Promise<GroupPlan> {
  const after = merged(before, patch);
  const objectsOf = (object: JsonObject) => ({ object, bootstrap: undefined, infrastructure: undefined });
  return judgeGroup(
    {
      cluster: { kind: 'Cluster', metadata: { name: 'c', namespace: 'default' } },
      group: 'control-plane',
      kind: textAt(before, 'kind'),
      name: textAt(before, 'metadata', 'name'),
      before: objectsOf(before),
      after: objectsOf(after),
      machineSets: [],
      machines,
      versions: versions ?? [textAt(after, 'spec', 'version')],
      notes: [],
      from: () => undefined,
    },
    { now: new Date('2026-08-01T00:00:00Z'), ...options },
  );
}

/** `replaced 3: spec.version`; the verdict, how many Machines, and the fields. */
export const outcomeOf = ({ verdict, machines, causes, problems = [] }: GroupPlan): string =>
  [
    `${verdict}${machines.replaced > 0 ? ` ${machines.replaced}` : ''}`,
    ...(causes.length > 0 && verdict !== 'unknown' ? [causes.map(({ field }) => field).join(', ')] : []),
    ...(verdict === 'unknown' ? problems.map(({ text }) => text) : []),
  ].join(': ');

/** A Machine with its bootstrap configuration and infrastructure, as a provider made it. */
export const machineOf = (
  name: string,
  {
    version,
    annotations = {},
    config,
    clonedFrom,
  }: { version: string; annotations?: JsonObject; config: JsonObject; clonedFrom?: string },
): ExistingMachine => ({
  machine: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name, namespace: 'default', annotations, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { clusterName: 'c', version },
  },
  bootstrapConfig: config,
  infrastructureMachine: {
    kind: 'InfraMachine',
    metadata: {
      name,
      namespace: 'default',
      annotations:
        clonedFrom === undefined
          ? {}
          : {
              'cluster.x-k8s.io/cloned-from-name': clonedFrom,
              'cluster.x-k8s.io/cloned-from-groupkind': 'InfraMachineTemplate.infrastructure.cluster.x-k8s.io',
            },
    },
    spec: {},
  },
});

/** The reference of a control plane to the template of its Machines, in v1beta2. */
export const templateNamed = (name: string): JsonObject => ({
  apiGroup: 'infrastructure.cluster.x-k8s.io',
  kind: 'InfraMachineTemplate',
  name,
});

export const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
