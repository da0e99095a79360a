import type { JsonObject } from '../../kubernetes/index.ts';
import { compareVersions, parseVersion } from '../../runtimehooks/index.ts';
import type { Blueprint } from '../../topology/index.ts';

const sampleVersion = 'v1.31.0';

/** The initial version of a sample Cluster that is to be upgraded to `target`: one minor below it, if that is later than the usual one. */
function versionBefore(target: string | undefined): string {
  const [sample, to] = [parseVersion(sampleVersion), parseVersion(target ?? '')];
  if (sample === undefined || to === undefined || (compareVersions(sample, to) < 0 && to.numbers[0] === 1)) {
    return sampleVersion;
  }
  return `v${to.numbers[0]}.${Math.max(to.numbers[1] - 1, 0)}.0`;
}

/**
 * A Cluster with a control plane and two groups of workers.
 *
 * @param target the version that it is to be upgraded to first.
 * @param blueprint the class that it is created from. Of one without worker classes, it has no workers: Cluster API would
 *   refuse it.
 */
export function sampleCluster(target: string | undefined, blueprint: Blueprint | undefined): JsonObject {
  const [workerClass] = blueprint === undefined ? ['default-worker'] : blueprint.machineDeployments.keys();
  const worker = (name: string, replicas: number) => ({ class: workerClass ?? '', name, replicas });
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'sample', namespace: blueprint?.namespace ?? 'default' },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
      topology: {
        classRef: { name: blueprint?.name ?? 'sample' },
        version: versionBefore(target),
        controlPlane: { replicas: 3 },
        workers: { machineDeployments: workerClass === undefined ? [] : [worker('md-0', 3), worker('md-1', 2)] },
      },
    },
  };
}
