import { type FieldPath, type JsonObject, type StatusCause, textAt } from '../../kubernetes/index.ts';
import type { Release } from '../../runtimehooks/index.ts';
import type { Difference } from '../world/differences.ts';
import type { GroupObjects } from '../world/groups.ts';
import { type MachineObjects, machineTemplateOf, type UpdateRequest } from './made-machine.ts';

/** Where fields of an object arrive that are written in place: their paths, and the objects that get them. */
export type Arrivals = readonly { path: FieldPath; on: readonly string[] }[];

/** Where the metadata of a machineTemplate arrives; `configs`: the kind of bootstrap configs, `KubeadmConfigs`. */
export const metadataArrival = (controlPlane: JsonObject, configs: string): Arrivals[number] => ({
  path: ['spec', 'machineTemplate', 'metadata'],
  on: ['Machines', configs, textAt(machineTemplateOf(controlPlane), 'kind').replace(/Template$/, 's')],
});

/** The facts about a kind of control plane. Objects are in the newest version that is known here. */
interface AnyKind {
  readonly group: string;
  readonly kind: string;
  readonly isInV1beta1?: true;
  arrivals(controlPlane: JsonObject): Arrivals;
  /** Causes for which Cluster API's own webhook refuses a new one, in v1beta2. Undefined: it has none for the kind. */
  creationCauses?(controlPlane: JsonObject): Iterable<StatusCause>;
  fillDefaults?(controlPlane: JsonObject): void;
  /** Why its webhook or schema does not take an update, in their words; `isStep`: one update, and not all steps of an upgrade. */
  refusal?(before: JsonObject, after: JsonObject, isStep: boolean): string | undefined;
}

/** A kind whose control planes run in Pods, or in the service of a cloud: none of its changes concerns a Machine. */
export interface KindWithoutMachines extends AnyKind {
  readonly hasMachines: false;
}

export interface KindWithMachines extends AnyKind {
  readonly hasMachines?: true;
  /** The fields of its spec whose effect is known here. Undefined: all that its schema has. */
  readonly fields?: readonly string[];
  /** `infrastructure` is undefined if it is not known; with the first Machine, the control plane began. */
  machine(
    controlPlane: JsonObject,
    infrastructure: JsonObject | undefined,
    names: { cluster: string; machine: string },
    isFirst?: boolean,
  ): MachineObjects;
  isFirst?(made: MachineObjects): boolean;
  /** In what it differs from what is wanted, so that it is replaced. @throws {NotKnown} if that depends on other objects. */
  reasons(made: MachineObjects, wanted: JsonObject, release: Release): Difference[];
  /** What it does not compare of a Machine, and why, in a plain sentence; undefined if it compares everything. */
  uncompared?(machine: JsonObject): string | undefined;
  /** Why it is time to replace a Machine; `previous` counts for those of which nobody knows how old they are. */
  timeReasons?(made: MachineObjects, wanted: JsonObject, previous: JsonObject, now: Date): Difference[];
  /** Who updates a Machine in place that differs in these fields; undefined if it is replaced, or extensions are asked. */
  updater?(reasons: readonly Difference[], controlPlane: JsonObject): string | undefined;
  /** How many new Machines come before an old one goes; undefined if each goes when somebody deletes it. */
  maxSurge(controlPlane: JsonObject): number | undefined;
  readonly asksExtensions?: boolean;
  /** Of CanUpdateMachine; undefined if a template is not known. Without it, what extensions could do is not known. */
  updateRequest?(
    made: MachineObjects,
    before: GroupObjects,
    after: GroupObjects,
    clusterName: string,
  ): UpdateRequest | undefined;
}

export type ControlPlaneKind = KindWithMachines | KindWithoutMachines;
