interface ObjectMetadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Cluster API's variables of a group of workers, a MachineDeployment or a MachinePool. */
interface WorkersBuiltins {
  version?: string;
  metadata?: ObjectMetadata;
  /** Name of its class. */
  class?: string;
  name?: string;
  /** Its name in `spec.topology.workers`. */
  topologyName?: string;
  replicas?: number;
  bootstrap?: { configRef?: { name?: string } };
  infrastructureRef?: { name?: string };
}

/**
 * The variable `builtin`, which Cluster API sends with each request (`Builtins` in its package
 * api/runtime/hooks/v1alpha1, as of 1.14). Which parts a template has depends on where it is used: `controlPlane`,
 * `machineDeployment` and `machinePool` exclude each other.
 */
export interface BuiltinVariables {
  cluster?: {
    name?: string;
    namespace?: string;
    uid?: string;
    metadata?: ObjectMetadata;
    topology?: {
      version?: string;
      classRef?: { name: string; namespace: string };
      /** As `classRef`, in older releases. */
      class?: string;
      classNamespace?: string;
    };
    network?: { serviceDomain?: string; services?: string[]; pods?: string[] };
  };
  controlPlane?: {
    version?: string;
    metadata?: ObjectMetadata;
    name?: string;
    replicas?: number;
    machineTemplate?: { infrastructureRef?: { name?: string } };
  };
  machineDeployment?: WorkersBuiltins;
  machinePool?: WorkersBuiltins;
}
