import type { Json } from '../../kubernetes/index.ts';

/**
 * The verdict on a group's Machines, from the cheapest to the most expensive; where two are true, the later one is
 * said. `refused`: Cluster API does not accept the write; `stopped`: it accepts it, and then stops with a condition before
 * it changes the group. `unknown` comes last: it may be any of them.
 */
export type Verdict =
  | 'unchanged'
  | 'refused'
  | 'stopped'
  | 'inPlace'
  | 'scaled'
  | 'created'
  | 'deleted'
  | 'onDelete'
  | 'replaced'
  | 'unknown';

export interface Cause {
  /** `KubeadmConfigTemplate default/f1-md-0-x7k2p`: the object that will have the new value. */
  object: string;
  /** Path in that object; a list is one value: `spec.kubeadmConfigSpec.files`. */
  field: string;
  /** Absent if the field is added. */
  before?: Json;
  /** Absent if the field is removed. */
  after?: Json;
  /** `patch audit, variable auditLevel`. */
  from?: string;
}

/** What a user should know about a Cluster or a group, and what to do about it. */
export interface Problem {
  text: string;
  remedy?: string;
  /** `ClusterClass default/fleet`: set if the input or an extension's answer is at fault, and not what Cluster API makes of it. */
  object?: string;
  /** The fields in which Machines are not up to date, with the values that they have and those that they should have. */
  causes?: Cause[];
}

export interface GroupPlan {
  /** `control-plane`, or the topology's name of the MachineDeployment or MachinePool. */
  group: string;
  kind: string;
  name: string;
  verdict: Verdict;
  machines: {
    before: number;
    after: number;
    /** That make way for another; not those that scaling removes. */
    replaced: number;
    inPlace: number;
  };
  /** The verdict later, once no pause and no preflight check of its MachineSets holds the group back. */
  held?: { is: 'paused' | 'blocked' } & Pick<GroupPlan, 'verdict' | 'machines' | 'replaces'>;
  /** How many Machines are replaced in any case, where it is not known what an extension patches. */
  atLeast?: number;
  causes: Cause[];
  /** How far the group is, in a plan without a change, as far as its status says. */
  now?: { version?: string; wanted: number; ready?: number; upToDate?: number };
  healthCheck?: Cause[];
  /** Names of the Machines that are replaced, or that OnDelete leaves until you delete them, if they are known. */
  replaces?: string[];
  /** How it happens: surge, steps of an upgrade, what OnDelete waits for, in plain sentences. */
  manner?: string[];
  problems?: Problem[];
}

/** How groups roll together whose Machines are replaced. */
export interface Peak {
  /** The groups in the order in which they begin: those of one list follow those of the list before. */
  order: string[][];
  /** How many groups roll at the same time at most. */
  atOnce: number;
  /** How many Machines there are at most besides those that the groups want: the sum of the surge of groups that roll at once. */
  surge: number;
  /** Versions that the Cluster goes through: `v1.34.0`, `v1.35.0`. Absent if the version stays. */
  versions?: string[];
}

export interface ClusterPlan {
  /** `default/f1`. */
  cluster: string;
  /** Whether the Cluster was made up, to show what becomes of one of its class. */
  sample?: true;
  groups: GroupPlan[];
  /** Set if Machines of several groups are replaced. */
  peak?: Peak;
  problems: Problem[];
}

export interface Sum {
  clusters: number;
  /** Machines that exist: each of them is in at most one of `replaced` to `unknown`. */
  machines: number;
  /** That make way for another, each counted once, also if an upgrade replaces it twice. */
  replaced: number;
  /** New Machines beside those that replace others. */
  created: number;
  deleted: number;
  inPlace: number;
  /** That are replaced when somebody deletes them. */
  onDelete: number;
  unknown: number;
  /** Clusters whose change Cluster API refuses, or where it stops with a condition. */
  notApplied: number;
}

export interface Plan {
  clusters: ClusterPlan[];
  sum: Sum;
  /** How many objects or answers could not be used: what they do is not in the plan. */
  unusable?: number;
}

/** The number of Machines of a group that are not deleted, but for which OnDelete waits. */
function waitingIn({ verdict, machines, replaces }: GroupPlan): number {
  return verdict === 'onDelete' ? (replaces?.length ?? Math.min(machines.before, machines.after)) : 0;
}

export function sumOf(clusters: readonly ClusterPlan[]): Sum {
  const groups = clusters.flatMap((cluster) => cluster.groups);
  const total = (some: readonly GroupPlan[], count: (group: GroupPlan) => number) =>
    some.reduce((sum, group) => sum + count(group), 0);
  const known = groups.filter(({ verdict }) => verdict !== 'unknown');
  const isNotApplied = ({ verdict }: GroupPlan) => verdict === 'refused' || verdict === 'stopped';
  return {
    clusters: clusters.length,
    machines: total(groups, ({ machines }) => machines.before),
    replaced: total(known, ({ machines }) => machines.replaced),
    created: total(known, ({ machines }) => Math.max(0, machines.after - machines.before)),
    deleted: total(known, ({ machines }) => Math.max(0, machines.before - machines.after)),
    inPlace: total(known, ({ machines }) => machines.inPlace),
    onDelete: total(known, waitingIn),
    unknown: total(groups, ({ verdict, machines }) => (verdict === 'unknown' ? machines.before : 0)),
    notApplied: clusters.filter((cluster) => cluster.groups.some(isNotApplied)).length,
  };
}
