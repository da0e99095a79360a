import type { Json, JsonObject } from '../../kubernetes/index.ts';

/** A patch of a ClusterClass: by an extension, or inline. */
export interface ClassPatch {
  name: string;
  /** Which variables it gets, by where they are defined: its name, or `inline`. */
  variablesFrom: string;
  /** Of an inline patch; empty for one by an extension. */
  definitions: readonly JsonObject[];
  /** The Go template of an inline patch; empty if it is always enabled. */
  enabledIf: string;
  generatePatches: string | undefined;
  validateTopology: string | undefined;
  discoverVariables: string | undefined;
  settings: JsonObject | undefined;
}

/** The templates that Machines are created from. */
export interface MachineTemplates {
  bootstrap: JsonObject | undefined;
  infrastructure: JsonObject | undefined;
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

/** Kinds of the objects that Cluster API creates for a Cluster. */
export interface ProviderKinds {
  infrastructure: { apiGroup: string; kind: string };
  controlPlane: { apiGroup: string; kind: string };
}

/** Kinds without a class: those of Cluster API's own providers for development. */
export const defaultKinds: ProviderKinds = {
  infrastructure: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DockerCluster' },
  controlPlane: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane' },
};

/** A ClusterClass with its templates. */
export interface Blueprint {
  namespace: string;
  name: string;
  kinds: ProviderKinds;
  /** Handler of GenerateUpgradePlan. */
  planHandler: string | undefined;
  /** `spec.kubernetesVersions`. */
  versions: readonly string[];
  patches: readonly ClassPatch[];
  infrastructureCluster: JsonObject | undefined;
  /** `spec.infrastructure.naming.template`. */
  infrastructureNaming: string;
  controlPlane: {
    template: JsonObject | undefined;
    machines: JsonObject | undefined;
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
