import { isJsonObject, itemsAt, type JsonObject } from '../../kubernetes/index.ts';
import { collectedKinds, type KnownCertificate, type KnownSecret } from './facts.ts';
import { keyOfObject, nonEmptyText } from './parts.ts';
import { readSecret } from './secrets.ts';
import { createFactsStore, type Facts } from './store.ts';

/** The API groups of these kinds; a manifest may contain another kind with the same name (Knative has a Service). */
const groups = {
  ExtensionConfig: 'runtime.cluster.x-k8s.io',
  ClusterClass: 'cluster.x-k8s.io',
  Cluster: 'cluster.x-k8s.io',
  Namespace: '',
  Service: '',
  Secret: '',
  Certificate: 'cert-manager.io',
} as const;

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
      const kind = object.kind as keyof typeof groups;
      if (!Object.hasOwn(groups, String(kind)) || groups[kind] !== groupOf(object)) {
        return false;
      }
      const isOfCluster = kind === 'ExtensionConfig' || kind === 'Namespace';
      const placed = isOfCluster ? object : withNamespace(object);
      const key = keyOfObject(placed);
      if (key === undefined) {
        return false;
      }
      const [namespace = ''] = key.split('/', 1);
      if (kind === 'Certificate') {
        const secret = nonEmptyText(placed, 'spec', 'secretName');
        for (const dnsName of secret === undefined ? [] : itemsAt(placed, 'spec', 'dnsNames')) {
          if (typeof dnsName === 'string') {
            const known = { key, secret: `${namespace}/${secret}` };
            certificates.set(dnsName, [...(certificates.get(dnsName) ?? []), known]);
          }
        }
      } else if (kind === 'Secret') {
        secrets.set(key, readSecret(placed));
      } else {
        store.collections[kind].put(key, placed);
      }
      if (kind === 'Service') {
        namespacesOfServices.add(namespace);
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
