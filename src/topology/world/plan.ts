import type { Json } from '../../kubernetes/index.ts';

/**
 * What happens to the Machines of a group, from the cheapest to the most expensive; where two are true, the later one is
 * said. `refused`: Cluster API does not accept the change. `unknown` comes last: it may be any of them.
 */
export type Verdict =
  | 'unchanged'
  | 'refused'
  | 'inPlace'
  | 'scaled'
  | 'created'
  | 'deleted'
  | 'onDelete'
  | 'replaced'
  | 'unknown';

/** A field that changes, and whence its value comes. */
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

/** The plan of a group of Machines, as in the JSON document. */
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
  causes: Cause[];
  /** Names of the Machines that are replaced, or that OnDelete leaves until you delete them, if they are known. */
  replaces?: string[];
  /** How it happens: surge, steps of an upgrade, what OnDelete waits for, in plain sentences. */
  manner?: string[];
  problems?: Problem[];
}

export interface ClusterPlan {
  /** `default/f1`. */
  cluster: string;
  groups: GroupPlan[];
  problems: Problem[];
}

/** The JSON document of a plan. */
export interface Plan {
  clusters: ClusterPlan[];
  /** Of all Clusters of the plan, with their Machines before. */
  sum: { clusters: number; machines: number; replaced: number };
}
