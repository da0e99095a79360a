import type { Json, JsonObject } from '../../../kubernetes/index.ts';

/** An external patch of a ClusterClass. */
export interface ExternalPatch {
  name: string;
  generatePatches: string | undefined;
  validateTopology: string | undefined;
  discoverVariables: string | undefined;
  settings: JsonObject | undefined;
}

/** A template that a class references, in the version of the reference. */
export type ClassTemplate = JsonObject;

/** The templates that Machines are created from. */
export interface MachineTemplates {
  bootstrap: ClassTemplate | undefined;
  infrastructure: ClassTemplate | undefined;
  /** The class of workers itself. */
  settings: JsonObject;
}

/** The definition of a variable, and where it comes from. */
export interface ClassVariable {
  /** Name of the patch, or `inline`. */
  from: string;
  isRequired: boolean;
  schema: JsonObject;
}

/** A ClusterClass with its templates. */
export interface Blueprint {
  namespace: string;
  name: string;
  /** Handler of GenerateUpgradePlan. */
  planHandler: string | undefined;
  /** `spec.kubernetesVersions`. */
  versions: readonly string[];
  patches: readonly ExternalPatch[];
  /** Names of patches that are defined inline in the class, which a rehearsal does not apply. */
  inlinePatches: readonly string[];
  infrastructureCluster: ClassTemplate | undefined;
  /** `spec.infrastructure.naming.template`. */
  infrastructureNaming: string;
  controlPlane: {
    template: ClassTemplate | undefined;
    machines: ClassTemplate | undefined;
    /** `spec.controlPlane`. */
    settings: JsonObject;
  };
  /** By class name. */
  machineDeployments: ReadonlyMap<string, MachineTemplates>;
  machinePools: ReadonlyMap<string, MachineTemplates>;
  /** Whether patches have been generated again after some time, as is done once for a class. */
  isRepeated: boolean;
  /** `spec.variables`. */
  inlineVariables: Json | undefined;
  /** Definitions of variables by name: those of the class, and those answered by DiscoverVariables. */
  variables: Map<string, ClassVariable[]>;
}
