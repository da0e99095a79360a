import {
  isJsonObject,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { inV1beta2 } from '../../topology/index.ts';

/**
 * A Cluster of a class, with its name: three Machines in the control plane, a group of each class of workers, the variables'
 * defaults. @param version of Kubernetes, if the class does not list its own.
 */
export function sampleCluster(given: JsonObject, version = 'v1.34.0'): JsonObject {
  const clusterClass = inV1beta2(given);
  const versions = objectAt(clusterClass, 'spec').kubernetesVersions;
  const last = Array.isArray(versions) ? versions.at(-1) : undefined;
  const hasMachines = isJsonObject(objectAt(clusterClass, 'spec', 'controlPlane').machineInfrastructure);
  const workers = ['machineDeployments', 'machinePools'].flatMap((list) => {
    const classes = objectsAt(clusterClass, 'spec', 'workers', list).map((worker) => textAt(worker, 'class'));
    return classes.length === 0
      ? []
      : [[list, classes.map((one) => ({ class: one, name: one, replicas: 1 }))] as const];
  });
  const name = nameOf(clusterClass);
  return {
    apiVersion: `${coreGroup}/v1beta2`,
    kind: 'Cluster',
    metadata: { name, namespace: namespaceOf(clusterClass) },
    spec: {
      topology: {
        classRef: { name },
        version: typeof last === 'string' ? last : version,
        ...(hasMachines && { controlPlane: { replicas: 3 } }),
        ...(workers.length > 0 && { workers: Object.fromEntries(workers) }),
      },
    },
  };
}
