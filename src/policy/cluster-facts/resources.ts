import { injectCaFromSecretAnnotation, pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { isJsonObject, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { maxPendingLength } from '../facts/clusters.ts';
import type { CollectedKind } from '../facts/store.ts';

/** A watched resource, and which parts of its objects are kept. */
export interface FactResource {
  group: string;
  /** Versions that can be read in the same way, the preferred one first. */
  versions: readonly string[];
  plural: string;
  /** The fields that facts are derived from; the rest of an object is dropped. */
  fields: readonly (readonly string[])[];
}

const cluster = { group: 'cluster.x-k8s.io', versions: ['v1beta2', 'v1beta1'] };

/** The kinds that are watched. */
export const factResources: Readonly<Record<CollectedKind, FactResource>> = {
  ExtensionConfig: {
    group: 'runtime.cluster.x-k8s.io',
    versions: ['v1beta2', 'v1alpha1'],
    plural: 'extensionconfigs',
    fields: [
      ['metadata', 'annotations', injectCaFromSecretAnnotation],
      ['spec', 'clientConfig', 'service'],
      ['spec', 'clientConfig', 'url'],
      ['spec', 'namespaceSelector'],
      ['status', 'handlers'],
    ],
  },
  ClusterClass: {
    ...cluster,
    plural: 'clusterclasses',
    fields: [
      ['spec', 'patches'],
      ['spec', 'upgrade', 'external'],
    ],
  },
  Cluster: {
    ...cluster,
    plural: 'clusters',
    fields: [
      ['metadata', 'annotations', pendingHooksAnnotation],
      ['spec', 'topology', 'classRef'],
      ['spec', 'topology', 'class'],
      ['spec', 'topology', 'classNamespace'],
    ],
  },
  Namespace: { group: '', versions: ['v1'], plural: 'namespaces', fields: [['metadata', 'labels']] },
  Service: {
    group: '',
    versions: ['v1'],
    plural: 'services',
    fields: [
      ['spec', 'type'],
      ['spec', 'ports'],
    ],
  },
};

/** The name of a resource in permissions. */
export function resourceName({ group, plural }: FactResource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The path of an API version, below which its resources are. */
export function versionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** The part of the metadata that identifies an object. */
const identity = ['namespace', 'name', 'uid', 'resourceVersion', 'deletionTimestamp'];

/** Of external patches, only the names of their handlers are kept, since settings and inline patches may be large. */
function withoutDefinitions(patches: Json): Json {
  return Array.isArray(patches)
    ? patches.map((patch) => (isJsonObject(patch) && patch.external ? { external: texts(patch.external) } : {}))
    : [];
}

function texts(external: Json): Json {
  return isJsonObject(external)
    ? Object.fromEntries(Object.entries(external).filter(([, value]) => typeof value === 'string'))
    : {};
}

/** Keeps only numbers and protocols of ports. */
function withoutNames(ports: Json): Json {
  return Array.isArray(ports)
    ? ports.map((item) => {
        const { port = null, protocol } = objectAt(item);
        return { port, ...(protocol !== undefined && { protocol }) };
      })
    : [];
}

/** Reduces handlers to the parts that are needed, since 512 of them are large. */
function withoutPolicies(handlers: Json): Json {
  return Array.isArray(handlers)
    ? handlers.map((handler) =>
        isJsonObject(handler) && handler.requestHook ? { requestHook: handler.requestHook } : {},
      )
    : [];
}

const shorter: Readonly<Record<string, (value: Json) => Json>> = {
  patches: withoutDefinitions,
  handlers: withoutPolicies,
  external: texts,
  ports: withoutNames,
};

/** An object reduced to its identity and the fields that facts are derived from. */
export function keptOf({ fields }: FactResource, object: JsonObject): JsonObject {
  const metadata: JsonObject = {};
  const { metadata: all } = object;
  for (const key of identity) {
    if (isJsonObject(all) && all[key] !== undefined) {
      metadata[key] = all[key];
    }
  }
  const kept: JsonObject = { metadata };
  for (const path of fields) {
    let from: Json | undefined = object;
    for (const key of path) {
      from = isJsonObject(from) ? from[key] : undefined;
    }
    // An annotation that is too long to be read is not kept either.
    if (from === undefined || (path[1] === 'annotations' && String(from).length > maxPendingLength)) {
      continue;
    }
    let into = kept;
    for (const key of path.slice(0, -1)) {
      const inner = into[key];
      const next: JsonObject = objectAt(inner);
      into[key] = next;
      into = next;
    }
    const last = path.at(-1) ?? '';
    into[last] = (shorter[last] ?? ((value) => value))(from);
  }
  return kept;
}
