import { type JsonObject, textAt } from '../kubernetes/index.ts';
import { readsTimes } from './control-planes/index.ts';
import { type Existing, workerKey } from './desired/existing.ts';
import { type ClusterOfClass, healthCheckChanges } from './desired/health-checks.ts';
import type { PlannedState } from './desired/planned-state.ts';
import type { AcceptedWrites, ClassRefusal } from './desired/refusals.ts';
import type { WriteAnswers } from './refusals/index.ts';
import { judgeGroup } from './rollout/index.ts';
import type { OwnWordReads } from './templates/index.ts';
import type { GroupChange, PlanOptions } from './world/groups.ts';
import type { ClusterPlan, GroupPlan, Problem } from './world/plan-document.ts';
import { topologyOf, workersIn } from './world/topologies.ts';

export interface PlanRequest extends Omit<PlanOptions, 'call' | 'follow'> {
  isPlanned?: (namespace: string, name: string) => boolean;
  /** The API server's answers about writes of the second state, by their objects. Default: its refusals are computed. */
  answers?: WriteAnswers;
  onCluster?: (plan: ClusterPlan) => void;
  onObjects?: (
    cluster: string,
    objects: readonly { before: JsonObject | undefined; after: JsonObject | undefined }[],
  ) => void;
  /** Whether an API server has already checked what is written by the schemas: it has when it asks webhooks. */
  isChecked?: boolean;
  /** What is said of a Cluster whose plan fails with a bug. Default: it is thrown. */
  onBug?: (error: unknown) => Problem;
  signal?: AbortSignal;
}

export interface Planning {
  before: PlannedState;
  /** Without the changes of classes and templates that are refused. */
  after: PlannedState;
  writes: AcceptedWrites;
  /** The changes that an upgrade of Cluster API makes to how it reads the same objects, in plain sentences. */
  readings: readonly string[];
  request: PlanRequest & Pick<PlanOptions, 'call'>;
  refusedChecks: ReadonlyMap<string, readonly { problem: Problem }[]>;
  /** Is told what is read of a Cluster that only it has. */
  reads?: OwnWordReads | undefined;
}

/** The Cluster as it is stored; undefined if it is new. */
export interface ClusterBefore extends ClusterOfClass {
  existing: Existing;
}

export interface Outcome {
  groups: GroupPlan[];
  problems: Problem[];
  changes: readonly GroupChange[];
}

/** The control plane of a Cluster after a change; undefined if it has none. */
export function controlPlaneAfter(changes: readonly GroupChange[]): JsonObject | undefined {
  const change = changes.find(({ group }) => group === 'control-plane');
  return (change?.end === undefined ? change?.after : change.before)?.object;
}

/** A group with how its health checks change, if it exists before and after. */
export function withHealthChecks(
  { before, after, request, reads }: Planning,
  group: GroupPlan,
  change: GroupChange,
  states: readonly [ClusterOfClass, ClusterOfClass],
): GroupPlan {
  if (['created', 'deleted', 'stopped'].includes(group.verdict)) {
    return group;
  }
  const { healthCheck, texts } = healthCheckChanges(states, [before.world, after.world], change, request.now);
  if (healthCheck.length === 0) {
    return group;
  }
  if (reads !== undefined) {
    // For how long Machines have been in a state.
    reads.hasMore = true;
  }
  return { ...group, healthCheck, manner: [...(group.manner ?? []), ...texts] };
}

/** Decides what happens to a group's Machines, and how its health checks change. */
export async function judge(
  planning: Planning,
  change: GroupChange,
  states: readonly [ClusterOfClass, ClusterOfClass],
): Promise<GroupPlan> {
  const { request, reads } = planning;
  if (reads !== undefined && [change.before, change.after].some((of) => of !== undefined && readsTimes(of.object))) {
    reads.hasMore = true;
  }
  return withHealthChecks(planning, await judgeGroup(change, request), change, states);
}

/** Groups that would change if Cluster API took the write of their Cluster, class or template. */
export function withRefusals(
  groups: readonly GroupPlan[],
  cluster: JsonObject,
  refusal: Problem | undefined,
  refusals: readonly ClassRefusal[] = [],
): GroupPlan[] {
  const parts = new Map(
    workersIn(topologyOf(cluster)).map(({ kind, worker, ofClass }) => [
      workerKey(kind, textAt(worker, 'name')),
      ofClass,
    ]),
  );
  return groups.map((group) => {
    const part = parts.get(workerKey(group.kind, group.group)) ?? 'control-plane';
    const isConcerned = refusal !== undefined || refusals.some((one) => one.part === undefined || one.part === part);
    const { held: _held, ...rest } = group;
    return isConcerned && group.verdict === 'unchanged' ? { ...rest, verdict: 'refused' } : group;
  });
}
