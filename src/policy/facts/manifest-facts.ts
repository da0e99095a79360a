import {
  groupOf,
  itemsAt,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  textAt,
} from '../../kubernetes/index.ts';
import {
  collectedKinds,
  createFactsStore,
  type Facts,
  type KnownCertificate,
  type KnownSecret,
  kinds,
  readSecret,
} from './store.ts';

/** The API groups of these kinds; a manifest may contain another kind with the same name (Knative has a Service). */
const known = { ...kinds, Secret: { group: '' }, Certificate: { group: 'cert-manager.io' } };

/**
 * Manifests rarely describe a whole cluster: a Service counts as absent only if its namespace has another one, a Secret never.
 * Objects without a namespace are in `default`; of those with the same name, as in overlays, the last one counts.
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
      certificates,
    },
    add(object) {
      const kind = object.kind as keyof typeof known;
      if (!Object.hasOwn(known, String(kind)) || known[kind].group !== groupOf(object) || nameOf(object) === '') {
        return false;
      }
      const isOfCluster = kind === 'ExtensionConfig' || kind === 'Namespace';
      const key = isOfCluster ? nameOf(object) : namespacedName(object);
      if (kind === 'Certificate') {
        const secret = textAt(object, 'spec', 'secretName');
        for (const dnsName of itemsAt(object, 'spec', 'dnsNames')) {
          if (typeof dnsName === 'string' && secret !== '') {
            const known = { key, secret: `${namespaceOf(object)}/${secret}` };
            certificates.set(dnsName, [...(certificates.get(dnsName) ?? []), known]);
          }
        }
      } else if (kind === 'Secret') {
        secrets.set(key, readSecret(object));
      } else {
        (store.collections[kind] as Map<string, unknown>).set(key, kinds[kind].read(key, object));
      }
      if (kind === 'Service') {
        namespacesOfServices.add(namespaceOf(object));
      }
      return true;
    },
  };
}
