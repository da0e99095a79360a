import type { JsonObject } from '../../kubernetes/index.ts';
import type { NotKnown, Stopped } from './not-known.ts';

/** A control plane (without `bootstrap`), a MachineDeployment, or a MachinePool, and the templates or objects that it refers to. */
export interface GroupObjects {
  object: JsonObject;
  bootstrap: JsonObject | undefined;
  infrastructure: JsonObject | undefined;
}

export const groupParts = ['object', 'bootstrap', 'infrastructure'] as const;
export type GroupPart = (typeof groupParts)[number];

export interface ExistingMachine {
  machine: JsonObject;
  bootstrapConfig: JsonObject | undefined;
  infrastructureMachine: JsonObject | undefined;
}

/** Where a value comes from: `patch audit, variable auditLevel`; undefined if nothing is known about it. */
export type Provenance = (part: GroupPart, path: readonly (string | number)[]) => string | undefined;

/** A group of Machines before and after a change, when all steps of an upgrade are done. */
export interface GroupChange {
  cluster: JsonObject;
  /** `control-plane`, or the topology's name of the MachineDeployment or MachinePool; without a topology, its own. */
  group: string;
  kind: string;
  /** Of `object`. */
  name: string;
  /** The control plane of the Cluster after the change; undefined if it has none, or none is known. */
  controlPlane?: JsonObject | undefined;
  /** Undefined if the group is created. */
  before: GroupObjects | undefined;
  /** Undefined if it is deleted. A template that is rotated has another name than before. */
  after: GroupObjects | undefined;
  /** What the topology controller applies, under the names that the objects had; undefined without a topology. */
  intent?: GroupObjects | undefined;
  /** Of a MachineDeployment, with their templates; empty if none are known. */
  machineSets: readonly GroupObjects[];
  /** Undefined if no Machine of the Cluster was given: then the replicas are what `object` says. */
  machines: readonly ExistingMachine[] | undefined;
  /** The versions that the group goes through, beginning with that before: one for each replacement; a single one if it stays. */
  versions: readonly string[];
  notes: readonly string[];
  from: Provenance;
  /** Why it is not known what becomes of the group, or why Cluster API does not come to it. */
  end?: NotKnown | Stopped | undefined;
}

/** The hooks that a plan calls. None has effects. */
export type PlanHook =
  | 'DiscoverVariables'
  | 'GeneratePatches'
  | 'ValidateTopology'
  | 'GenerateUpgradePlan'
  | 'CanUpdateMachine'
  | 'CanUpdateMachineSet';

export interface HookCall {
  /** Whose ExtensionConfigs are asked. */
  state: 'before' | 'after';
  hook: PlanHook;
  /** `name.extension`; empty to call whichever handler is registered (of CanUpdate… there is at most one). */
  handler: string;
  /** Without apiVersion, kind and the settings of the ExtensionConfig. */
  request: JsonObject;
  /** The Cluster or ClusterClass that it is about. */
  object: { namespace: string; name: string };
}

/** `failed` is what Cluster API would meet as well, in its words. `none`: no handler is registered for the hook. */
export type HookAnswer =
  | { is: 'answered'; response: JsonObject; handler: string }
  | { is: 'failed'; error: string }
  | { is: 'none' };

/** Calls an extension; rejects with `NotKnown` if it cannot be asked, or does not answer. */
export type CallHook = (call: HookCall) => Promise<HookAnswer>;

export type RolloutStep = { is: 'made' } | { is: 'updated' | 'deleted'; name: string };

export interface PlanOptions {
  /** The minor release of Cluster API. Default: the newest known. */
  clusterApiVersion?: { major: number; minor: number } | undefined;
  /** The minor release that made the state before, if Cluster API is upgraded. Default: the same. */
  clusterApiVersionBefore?: { major: number; minor: number } | undefined;
  /** The time of the change, for `rollout.after` and certificates' expiry. */
  now: Date;
  call?: CallHook | undefined;
  /** Whether Cluster API updates Machines in place if extensions can (the feature gate InPlaceUpdates). */
  updatesInPlace?: boolean | undefined;
  /** Whether Machines are named that are unlike what their group would make, and are not replaced; with the reason. */
  explains?: boolean | undefined;
  /** Follows the steps of a rollout in order: the next one is decided on when the promise is kept. */
  follow?: ((step: RolloutStep) => Promise<void>) | undefined;
}
