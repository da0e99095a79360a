import type { KubeConfig } from '@kubernetes/client-node';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { type Informer, type InformerChange, objectKey, startInformer } from '../../kubernetes/client/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup, groupOf, namespaceOf } from '../../topology/index.ts';
import { templateReferences } from '../plan/index.ts';

/** Maximum number of objects of a kind, and of characters of their JSON: with more, nothing is known. */
const maxObjects = 50_000;
const maxLength = 64 * 1024 * 1024;

/** For how long objects that the API server does not confirm any more are still used, in ms. */
const maxAgeMs = 60_000;

/** Kinds that are watched if there is a definition of them. */
const ownKinds: ReadonlySet<string> = new Set([
  ...['Cluster', 'ClusterClass', 'MachineDeployment', 'MachinePool', 'MachineSet', 'Machine'].map(
    (kind) => `${coreGroup} ${kind}`,
  ),
  `${runtimeGroup} ExtensionConfig`,
]);

/** The parts of the status that plans read. */
const statusFields: Readonly<Record<string, readonly string[]>> = {
  ClusterClass: ['variables'],
  ExtensionConfig: ['handlers'],
  Machine: ['certificatesExpiryDate'],
};

/** An object without what no plan reads. */
export function planned(object: JsonObject): JsonObject {
  const { status, metadata, ...rest } = object;
  const { managedFields: _fields, finalizers: _finalizers, generation: _generation, ...kept } = objectAt(metadata);
  const { [lastAppliedAnnotation]: _applied, ...annotations } = objectAt(kept, 'annotations');
  const fields = statusFields[textAt(object, 'kind')]?.flatMap((name) => {
    const value = isJsonObject(status) ? status[name] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...rest,
    metadata: kept.annotations === undefined ? kept : { ...kept, annotations },
    ...(fields !== undefined && fields.length > 0 && { status: Object.fromEntries(fields) }),
  };
}

/** A schema without its descriptions, which are most of it. A property may be called `description`, too. */
function withoutDescriptions(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(withoutDescriptions);
  }
  return isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .filter(([name, inner]) => name !== 'description' || typeof inner !== 'string')
          .map(([name, inner]) => [name, withoutDescriptions(inner as Json)]),
      )
    : value;
}

/** A definition of Cluster API or a provider, for defaults and versions; of others only that there is one. */
function keptDefinition(object: JsonObject): JsonObject {
  const { name = null, uid = null, resourceVersion = null } = objectAt(object, 'metadata');
  const { group, names, versions = [] } = objectAt(object, 'spec');
  const isOurs = typeof group === 'string' && (group === coreGroup || group.endsWith(`.${coreGroup}`));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, uid, resourceVersion },
    spec: isOurs ? { group, names: names ?? {}, versions: withoutDescriptions(versions) } : {},
  };
}

/** `NAMESPACE/NAME` of the Cluster that an object belongs to; undefined if it is shared. */
function clusterOf(object: JsonObject): string | undefined {
  const namespace = namespaceOf(object);
  if (object.kind === 'Cluster' && groupOf(object) === coreGroup) {
    return objectKey(object);
  }
  const name =
    textAt(object, 'spec', 'clusterName') || textAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name');
  return name === '' ? undefined : `${namespace}/${name}`;
}

/** Objects by a key and their identity. */
class Shelves {
  readonly #shelves = new Map<string, Map<string, JsonObject>>();

  put(shelf: string, key: string, object: JsonObject): void {
    const objects = this.#shelves.get(shelf) ?? new Map<string, JsonObject>();
    objects.set(key, object);
    this.#shelves.set(shelf, objects);
  }

  remove(shelf: string, key: string): void {
    const objects = this.#shelves.get(shelf);
    objects?.delete(key);
    if (objects?.size === 0) {
      this.#shelves.delete(shelf);
    }
  }

  on(shelf: string): JsonObject[] {
    return [...(this.#shelves.get(shelf)?.values() ?? [])];
  }
}

interface Following {
  version: string;
  informer: Informer;
}

export interface WatchedObjectsOptions {
  /** Called with why objects may be stale or missing, with undefined when they are current again. */
  onProblem(resource: string, problem: string | undefined): void;
}

/**
 * The objects that plans read, kept up to date: Clusters and their Machines, classes, and the kinds of templates and control
 * planes that the classes name. Not what belongs to a single Machine (KubeadmConfigs, machines of providers): a plan does
 * without.
 */
export class WatchedObjects {
  readonly #config: KubeConfig;
  readonly #options: WatchedObjectsOptions;
  readonly #definitions: Informer;
  readonly #namespaces: Informer;
  readonly #following = new Map<string, Following>();
  readonly #ofClusters = new Shelves();
  readonly #shared = new Shelves();
  #isToFollow = false;
  #isStopped = false;

  constructor(config: KubeConfig, options: WatchedObjectsOptions) {
    this.#config = config;
    this.#options = options;
    const definitions = 'customresourcedefinitions.apiextensions.k8s.io';
    this.#definitions = startInformer(config, {
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      resource: definitions,
      keep: keptDefinition,
      maxObjects,
      maxLength,
      onChange: () => this.#followSoon(),
      onProblem: (problem) => options.onProblem(definitions, problem),
    });
    this.#namespaces = startInformer(config, {
      path: '/api/v1/namespaces',
      resource: 'namespaces',
      keep: planned,
      maxObjects,
      maxLength,
      onProblem: (problem) => options.onProblem('namespaces', problem),
    });
  }

  /** Why nothing can be said yet, or any more; undefined if the objects are known. */
  get problem(): string | undefined {
    const all = [this.#definitions, this.#namespaces, ...[...this.#following.values()].map(({ informer }) => informer)];
    const unread = all.find(({ isSynced }) => !isSynced);
    if (unread !== undefined || this.#isToFollow) {
      return unread?.problem ?? 'the objects of the cluster are still being read';
    }
    const now = performance.now();
    return all.find(({ problem, confirmedAt = 0 }) => problem !== undefined && now - confirmedAt > maxAgeMs)?.problem;
  }

  /** Definitions of Cluster API and of providers. */
  definitions(): JsonObject[] {
    return this.#definitions.list().filter((definition) => textAt(definition, 'spec', 'group') !== '');
  }

  ofKind(group: string, kind: string): JsonObject[] {
    return this.#following.get(`${group} ${kind}`)?.informer.list() ?? [];
  }

  /** A Cluster and what belongs to it. */
  ofCluster(namespace: string, name: string): JsonObject[] {
    return this.#ofClusters.on(`${namespace}/${name}`);
  }

  /** Classes and templates of a namespace. */
  shared(namespace: string): JsonObject[] {
    return this.#shared.on(namespace);
  }

  namespaceLabels(namespace: string): JsonObject {
    return objectAt(this.#namespaces.get(namespace), 'metadata', 'labels');
  }

  stop(): void {
    this.#isStopped = true;
    this.#definitions.stop();
    this.#namespaces.stop();
    for (const { informer } of this.#following.values()) {
      informer.stop();
    }
  }

  /** Kinds to watch; of those that classes name, in the version that they name. */
  #wanted(): Map<string, string | undefined> {
    const wanted = new Map<string, string | undefined>([...ownKinds].map((kind) => [kind, undefined]));
    for (const clusterClass of this.ofKind(coreGroup, 'ClusterClass')) {
      for (const reference of templateReferences(clusterClass)) {
        const [group = '', version] = textAt(reference, 'apiVersion').split('/');
        const kind = textAt(reference, 'kind');
        wanted.set(`${group} ${kind}`, version);
        if (group.startsWith('controlplane.')) {
          wanted.set(`${group} ${kind.replace(/Template$/, '')}`, undefined);
        }
      }
    }
    return wanted;
  }

  /** Once for many changes. */
  #followSoon(): void {
    if (!this.#isToFollow) {
      this.#isToFollow = true;
      setImmediate(() => {
        this.#isToFollow = false;
        this.#follow();
      });
    }
  }

  /** Begins to watch kinds that are wanted and defined, and ends what is not any more. */
  #follow(): void {
    if (this.#isStopped) {
      return;
    }
    const wanted = this.#wanted();
    const defined = new Set<string>();
    for (const { spec } of this.#definitions.list()) {
      const group = textAt(spec, 'group');
      const key = `${group} ${textAt(spec, 'names', 'kind')}`;
      if (!wanted.has(key)) {
        continue;
      }
      const served = objectsAt(spec, 'versions').filter((version) => version.served === true);
      const chosen =
        [wanted.get(key), 'v1beta2'].find((name) => served.some((version) => version.name === name)) ??
        textAt(served.find((version) => version.storage === true) ?? served[0], 'name');
      if (chosen === '') {
        continue;
      }
      defined.add(key);
      if (this.#following.get(key)?.version !== chosen) {
        this.#end(key);
        this.#begin(key, group, textAt(spec, 'names', 'plural'), chosen);
      }
    }
    for (const key of [...this.#following.keys()].filter((one) => !defined.has(one))) {
      this.#end(key);
    }
  }

  #begin(key: string, group: string, plural: string, version: string): void {
    const resource = `${plural}.${group}`;
    const kind = key.split(' ')[1] ?? '';
    const informer = startInformer(this.#config, {
      path: `/apis/${group}/${version}/${plural}`,
      resource,
      // Items of a list may lack both.
      keep: (object) => ({ ...planned({ ...object, kind }), apiVersion: `${group}/${version}`, kind }),
      maxObjects,
      maxLength,
      onChange: (change) => this.#onChange(key, change),
      onProblem: (problem) => this.#options.onProblem(resource, problem),
    });
    this.#following.set(key, { version, informer });
  }

  #end(key: string): void {
    const following = this.#following.get(key);
    following?.informer.stop();
    this.#following.delete(key);
    for (const object of following?.informer.list() ?? []) {
      this.#remove(key, object);
    }
  }

  #onChange(key: string, { type, object, previous }: InformerChange): void {
    if (previous !== undefined) {
      this.#remove(key, previous);
    }
    if (type === 'deleted') {
      this.#remove(key, object);
    } else {
      const cluster = clusterOf(object);
      const identity = `${key} ${objectKey(object)}`;
      if (cluster === undefined) {
        this.#shared.put(namespaceOf(object), identity, object);
      } else {
        this.#ofClusters.put(cluster, identity, object);
      }
    }
    if (key === `${coreGroup} ClusterClass`) {
      this.#followSoon();
    }
  }

  #remove(key: string, object: JsonObject): void {
    const cluster = clusterOf(object);
    const identity = `${key} ${objectKey(object)}`;
    if (cluster === undefined) {
      this.#shared.remove(namespaceOf(object), identity);
    } else {
      this.#ofClusters.remove(cluster, identity);
    }
  }
}
