import type { JsonObject } from '../../../kubernetes/index.ts';

/** The templates of the Machines of a group, as Cluster API writes them for the Cluster. */
export interface MachineTemplateObjects {
  bootstrap: JsonObject;
  infrastructure: JsonObject;
}

/** A MachineSet: the Machines of one version and one pair of templates. */
export interface MachineSet extends MachineTemplateObjects {
  name: string;
  /** The label `machine-template-hash`. */
  hash: string;
  revision: number;
  version: string;
}

/** A Machine of a group. */
export interface Machine {
  name: string;
  /** The MachineSet that it belongs to. */
  set: MachineSet;
}

/** What a group of workers consists of. */
export interface GroupMachines {
  current: MachineSet;
  machines: Machine[];
  /** The MachineSet of a rollout that has not been played. */
  next: MachineSet | undefined;
}
