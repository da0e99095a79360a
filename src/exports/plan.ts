import './node-version.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { newestKnownRelease } from '../runtimehooks/index.ts';
import { type CallHook, layered, NotKnown, type Plan, plan as planOf, prepared, World } from '../topology/index.ts';

export type {
  CallHook,
  Cause,
  ClusterPlan,
  GroupPlan,
  HookAnswer,
  HookCall,
  Plan,
  Problem,
  Sum,
  Verdict,
} from '../topology/index.ts';
export type { JsonObject };
export { NotKnown };

/** How to plan. All options are optional. */
export interface PlanOptions {
  /** The minor release of Cluster API. Default: the newest known. */
  clusterApiVersion?: { major: number; minor: number } | undefined;
  /** The time of the change, for `rollout.after` and certificates that expire. Default: now. */
  now?: Date | undefined;
  /** Calls extensions; without it, what an extension patches is not known. */
  call?: CallHook | undefined;
  /** Whether Cluster API updates Machines in place where extensions can. Default: no. */
  updatesInPlace?: boolean | undefined;
  /** Whether a Cluster is planned. Default: all are. */
  isPlanned?: ((namespace: string, name: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Which Machines a change will replace, and why: the plan of all Clusters of two states. Does no I/O but that of `call`.
 *
 * @param before the objects as they are: Clusters, ClusterClasses, templates, CustomResourceDefinitions, Machines and so on.
 * @param changes objects as they will be written; what they do not name stays.
 */
export function plan(
  before: readonly JsonObject[],
  changes: readonly JsonObject[],
  {
    clusterApiVersion = newestKnownRelease,
    now = new Date(),
    call,
    updatesInPlace,
    isPlanned,
    signal,
  }: PlanOptions = {},
): Promise<Plan> {
  const known = before.map(prepared);
  const wanted = layered(known, changes.map(prepared));
  return planOf(new World(known, { call }), new World(wanted, { call }), {
    clusterApiVersion,
    now,
    updatesInPlace,
    ...(isPlanned && { isPlanned }),
    ...(signal && { signal }),
  });
}
