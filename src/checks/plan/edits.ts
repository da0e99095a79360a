import { copyOf, type Json, type JsonObject, objectAt, objectsAt, setOwn, textAt } from '../../kubernetes/index.ts';
import { coreGroup, groupOf } from '../../topology/index.ts';

/** What `--set-version` and `--set-variable` change in Clusters of a class. */
export interface Edits {
  version?: string | undefined;
  variables: ReadonlyMap<string, Json>;
}

export const isCluster = (object: JsonObject): boolean => object.kind === 'Cluster' && groupOf(object) === coreGroup;

/** The Cluster after the edits; itself if it has no topology, or if nothing is edited. */
export function edited(cluster: JsonObject, { version, variables }: Edits): JsonObject {
  if (cluster.spec === undefined || objectAt(cluster, 'spec').topology === undefined) {
    return cluster;
  }
  const copy = copyOf(cluster);
  const topology = objectAt(copy, 'spec', 'topology');
  if (version !== undefined) {
    setOwn(topology, 'version', version);
  }
  if (variables.size > 0) {
    const kept = objectsAt(topology, 'variables').filter((variable) => !variables.has(textAt(variable, 'name')));
    setOwn(topology, 'variables', [...kept, ...[...variables].map(([name, value]) => ({ name, value }))]);
  }
  return copy;
}
