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

export function createFactsStore({ secrets, isServiceCertain = () => true }: FactsStoreOptions = {}) {
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
  const collections: Readonly<Record<CollectedKind, FactCollection>> = {
    ExtensionConfig: extensionConfigs.collection,
    ClusterClass: clusterClasses.collection,
    Cluster: clusters.collection,
    Namespace: namespaces,
    Service: services,
  };
  return {
    collections,
    /** The facts, for kinds of which all objects have been added; they change with the collections. */
    factsAbout(kinds: readonly CollectedKind[]): Facts {
      const ifKnown = <T>(kind: CollectedKind, facts: T) => (kinds.includes(kind) ? facts : undefined);
      return {
        extensionConfigs: ifKnown('ExtensionConfig', extensionConfigs.facts),
        clusterClasses: ifKnown('ClusterClass', clusterClasses.facts),
        clusters: ifKnown('Cluster', clusters.facts),
        namespaces: ifKnown('Namespace', namespaceFacts),
        services: ifKnown('Service', serviceFacts),
        secrets,
      };
    },
  };
}

export type FactsStore = ReturnType<typeof createFactsStore>;
