import { isJsonObject, itemsAt, type JsonObject } from '../../kubernetes/index.ts';
import { type CollectedKind, collectedKinds, type KnownCertificate, type KnownSecret } from './facts.ts';
import { keyOfObject, nonEmptyText } from './parts.ts';
import { readSecret } from './secrets.ts';
import { createFactsStore, type Facts } from './store.ts';

function isCollected(kind: unknown): kind is CollectedKind {
  return (collectedKinds as readonly unknown[]).includes(kind);
}

/** The API groups of these kinds; a manifest may contain another kind with the same name (Knative has a Service). */
const groups: Readonly<Record<CollectedKind | 'Secret' | 'Certificate', string>> = {
  ExtensionConfig: 'runtime.cluster.x-k8s.io',
  ClusterClass: 'cluster.x-k8s.io',
  Cluster: 'cluster.x-k8s.io',
  Namespace: '',
  Service: '',
  Secret: '',
  Certificate: 'cert-manager.io',
};

function groupOf({ apiVersion }: JsonObject): string {
  const slash = typeof apiVersion === 'string' ? apiVersion.indexOf('/') : -1;
  return slash === -1 ? '' : String(apiVersion).slice(0, slash);
}

/**
 * Facts from manifests, which rarely describe a whole cluster: a Service counts as absent only if its namespace has
 * another Service, and a Secret never does. Objects without a namespace are in `default`; of several objects with the
 * same name, as in overlays, the last one counts.
 */
export function createManifestFacts(): {
  facts: Facts;
  /** Adds an object; returns whether there are facts about its kind. */
  add(object: JsonObject): boolean;
} {
  const secrets = new Map<string, KnownSecret>();
  const certificates = new Map<string, KnownCertificate[]>();
  const namespacesOfServices = new Set<string>();
  const store = createFactsStore((namespace) => namespacesOfServices.has(namespace));
  return {
    facts: {
      ...store.factsAbout(collectedKinds),
      secrets: { find: (namespace, name) => secrets.get(`${namespace}/${name}`) },
      certificates: { forName: (dnsName) => certificates.get(dnsName) ?? [] },
    },
    add(object) {
      const { kind } = object;
      const isSecret = kind === 'Secret';
      const isCertificate = kind === 'Certificate';
      if (!(isSecret || isCertificate || isCollected(kind)) || groups[kind] !== groupOf(object)) {
        return false;
      }
      const isOfCluster = kind === 'ExtensionConfig' || kind === 'Namespace';
      const placed = isOfCluster ? object : withNamespace(object);
      const key = keyOfObject(placed);
      if (key === undefined) {
        return false;
      }
      if (isCertificate) {
        const secret = nonEmptyText(placed, 'spec', 'secretName');
        const known = { key, secret: `${key.slice(0, key.indexOf('/'))}/${secret}` };
        for (const dnsName of secret === undefined ? [] : itemsAt(placed, 'spec', 'dnsNames')) {
          if (typeof dnsName === 'string') {
            certificates.set(dnsName, [...(certificates.get(dnsName) ?? []), known]);
          }
        }
        return true;
      }
      if (isSecret) {
        secrets.set(key, readSecret(placed));
        return true;
      }
      store.collections[kind].put(key, placed);
      if (kind === 'Service') {
        namespacesOfServices.add(key.slice(0, key.indexOf('/')));
      }
      return true;
    },
  };
}

function withNamespace(object: JsonObject): JsonObject {
  const { metadata } = object;
  return isJsonObject(metadata) && !metadata.namespace
    ? { ...object, metadata: { ...metadata, namespace: 'default' } }
    : object;
}
