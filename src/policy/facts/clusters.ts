import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type FactCollection, Index, IndexedCollection } from './collection.ts';
import type { ClusterFacts, KnownCluster } from './facts.ts';
import { namespacedName, nonEmptyText } from './parts.ts';

/** Longest annotation that is read, in characters: all existing hooks together take 300. */
const maxPendingLength = 1024;
/** Maximum number of hooks of a Cluster: Cluster API has 17. Anyone who may write Clusters can write the annotation. */
const maxPending = 32;

interface Item extends KnownCluster {
  clusterClass: string | undefined;
  pending: readonly string[];
}

function classOf(object: JsonObject, namespace: string): string | undefined {
  const topology = objectAt(object, 'spec', 'topology');
  const classRef = objectAt(topology, 'classRef');
  // v1beta1 has separate fields for the name and the namespace.
  const name = nonEmptyText(classRef, 'name') ?? nonEmptyText(topology, 'class');
  const other = nonEmptyText(classRef, 'namespace') ?? nonEmptyText(topology, 'classNamespace');
  return name === undefined ? undefined : namespacedName(other ?? namespace, name);
}

/** The pending hooks; none for a Cluster that is being deleted, because Cluster API then calls none of them. */
function pendingOf(metadata: JsonObject): readonly string[] {
  const pending = nonEmptyText(metadata, 'annotations', pendingHooksAnnotation) ?? '';
  const isRead =
    pending !== '' && pending.length <= maxPendingLength && nonEmptyText(metadata, 'deletionTimestamp') === undefined;
  return isRead ? [...new Set(pending.split(',', maxPending))] : [];
}

function reduce(key: string, object: JsonObject): Item {
  const metadata = objectAt(object, 'metadata');
  const namespace = nonEmptyText(metadata, 'namespace') ?? '';
  return {
    key,
    namespace,
    clusterClass: classOf(object, namespace),
    pending: pendingOf(metadata),
  };
}

export function createClusters(): { collection: FactCollection; facts: ClusterFacts } {
  const byPending = new Index<Item>((item) => item.pending.map((hook) => [hook, item]));
  const byClass = new Index<Item>((item) => (item.clusterClass ? [[item.clusterClass, item]] : []));
  return {
    collection: new IndexedCollection(reduce, [byPending, byClass]),
    facts: {
      waitingFor: (hook) => byPending.get(hook),
      namespacesOfClass: (clusterClass) => new Set(Array.from(byClass.get(clusterClass), ({ namespace }) => namespace)),
    },
  };
}
