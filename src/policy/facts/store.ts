import { type JsonObject, objectAt, textValues } from '../../kubernetes/index.ts';
import { createClusterClasses } from './cluster-classes.ts';
import { createClusters } from './clusters.ts';
import { type FactCollection, IndexedCollection } from './collection.ts';
import { createExtensionConfigs } from './extension-configs.ts';
import type { Facts, NamespaceFacts, SecretFacts, ServiceFacts } from './facts.ts';
import { namespacedName } from './parts.ts';
import { readService } from './services.ts';

export const collectedKinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'] as const;
export type CollectedKind = (typeof collectedKinds)[number];

export interface FactsStore {
  /** What is known now; the facts about a kind change with its collection. */
  readonly facts: Facts;
  readonly collections: Readonly<Record<CollectedKind, FactCollection>>;
  /** Sets whether all objects of a kind have been added, which is initially false. */
  setKnown(kind: CollectedKind, isKnown: boolean): void;
}

interface FactsStoreOptions {
  /** Default: nothing is known about Secrets. */
  secrets?: SecretFacts;
  /** Whether a Service that was not added is certainly absent from a namespace. Default: yes. */
  isServiceCertain?: (namespace: string) => boolean;
}

/** The labels of a namespace. The API server gives every namespace the first one; manifests do not contain it. */
function labelsOf(name: string, namespace: JsonObject): Readonly<Record<string, string>> {
  return { 'kubernetes.io/metadata.name': name, ...textValues(objectAt(namespace, 'metadata', 'labels')) };
}

export function createFactsStore({ secrets, isServiceCertain = () => true }: FactsStoreOptions = {}): FactsStore {
  const extensionConfigs = createExtensionConfigs();
  const clusterClasses = createClusterClasses();
  const clusters = createClusters();
  const namespaces = new IndexedCollection(labelsOf);
  const services = new IndexedCollection((_key, object) => readService(object));
  const namespaceFacts: NamespaceFacts = { labelsOf: (namespace) => namespaces.get(namespace) };
  const serviceFacts: ServiceFacts = {
    find: (namespace, name) =>
      services.get(namespacedName(namespace, name)) ?? (isServiceCertain(namespace) ? 'absent' : undefined),
  };
  const known = new Set<CollectedKind>();
  const ifKnown = <T>(kind: CollectedKind, facts: T) => (known.has(kind) ? facts : undefined);
  return {
    get facts() {
      return {
        extensionConfigs: ifKnown('ExtensionConfig', extensionConfigs.facts),
        clusterClasses: ifKnown('ClusterClass', clusterClasses.facts),
        clusters: ifKnown('Cluster', clusters.facts),
        namespaces: ifKnown('Namespace', namespaceFacts),
        services: ifKnown('Service', serviceFacts),
        secrets,
      };
    },
    collections: {
      ExtensionConfig: extensionConfigs.collection,
      ClusterClass: clusterClasses.collection,
      Cluster: clusters.collection,
      Namespace: namespaces,
      Service: services,
    },
    setKnown(kind, isKnown) {
      if (isKnown) {
        known.add(kind);
      } else {
        known.delete(kind);
      }
    },
  };
}
