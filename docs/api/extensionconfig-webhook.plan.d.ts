type Json = null | boolean | number | string | Json[] | {
  [key: string]: Json;
};
type JsonObject = {
  [key: string]: Json;
};
type Verdict = 'unchanged' | 'refused' | 'stopped' | 'inPlace' | 'scaled' | 'created' | 'deleted' | 'onDelete' | 'replaced' | 'unknown';
interface Cause {
  object: string;
  field: string;
  before?: Json;
  after?: Json;
  from?: string;
}
interface Problem {
  text: string;
  remedy?: string;
  object?: string;
  causes?: Cause[];
}
interface GroupPlan {
  group: string;
  kind: string;
  name: string;
  verdict: Verdict;
  machines: {
    before: number;
    after: number;
    replaced: number;
    inPlace: number;
  };
  held?: {
    is: 'paused' | 'blocked';
  } & Pick<GroupPlan, 'verdict' | 'machines' | 'replaces'>;
  atLeast?: number;
  causes: Cause[];
  now?: {
    version?: string;
    wanted: number;
    ready?: number;
    upToDate?: number;
  };
  healthCheck?: Cause[];
  replaces?: string[];
  manner?: string[];
  problems?: Problem[];
}
interface Peak {
  order: string[][];
  atOnce: number;
  surge: number;
  versions?: string[];
}
interface ClusterPlan {
  cluster: string;
  sample?: true;
  groups: GroupPlan[];
  peak?: Peak;
  problems: Problem[];
}
interface Sum {
  clusters: number;
  machines: number;
  replaced: number;
  created: number;
  deleted: number;
  inPlace: number;
  onDelete: number;
  unknown: number;
  notApplied: number;
}
interface Plan {
  clusters: ClusterPlan[];
  sum: Sum;
  unusable?: number;
}
declare class PlanEnd extends Error {
  readonly remedy: string | undefined;
  readonly object: string | undefined;
  constructor(text: string, { remedy, object }?: Partial<Pick<PlanEnd, 'remedy' | 'object'>>);
  get problem(): Problem;
}
export declare class NotKnown extends PlanEnd {
  readonly name = "NotKnown";
  readonly is = "unknown";
}
type PlanHook = 'DiscoverVariables' | 'GeneratePatches' | 'ValidateTopology' | 'GenerateUpgradePlan' | 'CanUpdateMachine' | 'CanUpdateMachineSet';
interface HookCall {
  state: 'before' | 'after';
  hook: PlanHook;
  handler: string;
  request: JsonObject;
  object: {
    namespace: string;
    name: string;
  };
}
type HookAnswer = {
  is: 'answered';
  response: JsonObject;
  handler: string;
} | {
  is: 'failed';
  error: string;
} | {
  is: 'none';
};
type CallHook = (call: HookCall) => Promise<HookAnswer>;
export interface PlanOptions {
  clusterApiVersion?: {
    major: number;
    minor: number;
  } | undefined;
  now?: Date | undefined;
  call?: CallHook | undefined;
  updatesInPlace?: boolean | undefined;
  isPlanned?: ((namespace: string, name: string) => boolean) | undefined;
  signal?: AbortSignal | undefined;
}
export declare function plan(before: readonly JsonObject[], changes: readonly JsonObject[], { clusterApiVersion, now, call, updatesInPlace, isPlanned, signal }?: PlanOptions): Promise<Plan>;
export type { CallHook, Cause, ClusterPlan, GroupPlan, HookAnswer, HookCall, JsonObject, Plan, Problem, Sum, Verdict };