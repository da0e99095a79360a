import type { KubeConfig } from '@kubernetes/client-node';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { Informer } from '../../kubernetes/client/index.ts';
import {
  groupOf,
  type JsonObject,
  namespacedName,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { type CallHook, prepared, templateReferences, World } from '../../topology/index.ts';

/** Maximum number of objects of a kind, and of characters of their JSON: with more, nothing is known. */
const maxObjects = 50_000;
const maxLength = 64 * 1024 * 1024;

/** How long objects are used that the API server does not confirm any more, in ms. */
const maxAgeMs = 60_000;

const ownKinds: ReadonlySet<string> = new Set([
  ...['Cluster', 'ClusterClass', 'MachineDeployment', 'MachinePool', 'MachineSet', 'Machine'].map(
    (kind) => `${coreGroup} ${kind}`,
  ),
  `${runtimeGroup} ExtensionConfig`,
]);

/** They say which Clusters a write concerns, and which other kinds are watched. */
const neededKinds: ReadonlySet<string> = new Set([`${coreGroup} Cluster`, `${coreGroup} ClusterClass`]);

const stillReading = 'the objects of the cluster are still being read';

function whyUnread({ ageMs, problem }: Informer): string | undefined {
  if (ageMs === undefined) {
    return problem ?? stillReading;
  }
  return ageMs > maxAgeMs ? problem : undefined;
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
    spec: isOurs ? { group, names: names ?? {}, versions } : {},
  };
}

/** `NAMESPACE/NAME` of the Cluster that an object belongs to; of one that is shared, `NAMESPACE`. */
function ownerOf(object: JsonObject): string {
  if (object.kind === 'Cluster' && groupOf(object) === coreGroup) {
    return namespacedName(object);
  }
  const name =
    textAt(object, 'spec', 'clusterName') || textAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name');
  return name === '' ? namespaceOf(object) : `${namespaceOf(object)}/${name}`;
}

/** Clusters and their Machines, classes, and the kinds that these name. Plans do without what belongs to a single Machine. */
export class WatchedObjects {
  readonly #config: KubeConfig;
  readonly #onProblem: (resource: string, problem: string | undefined) => void;
  readonly #definitions: Informer;
  readonly #namespaces: Informer;
  readonly #following = new Map<string, { version: string; informer: Informer }>();
  /** The objects by `ownerOf`; undefined since one of them has changed. */
  #byOwner: Map<string, JsonObject[]> | undefined;
  #isToFollow = false;

  constructor(config: KubeConfig, onProblem: (resource: string, problem: string | undefined) => void) {
    this.#config = config;
    this.#onProblem = onProblem;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    this.#definitions = this.#watch(definitions, 'customresourcedefinitions.apiextensions.k8s.io', keptDefinition, () =>
      this.#followSoon(),
    );
    this.#namespaces = this.#watch('/api/v1/namespaces', 'namespaces', prepared);
  }

  #watch(path: string, resource: string, keep: (object: JsonObject) => JsonObject, onChange?: () => void): Informer {
    const onProblem = (problem: string | undefined) => this.#onProblem(resource, problem);
    return new Informer(this.#config, {
      ...{ path, resource, keep, maxObjects, maxLength, onProblem },
      ...(onChange && { onChange }),
    });
  }

  get problem(): string | undefined {
    const needed = [...neededKinds].flatMap((kind) => this.#following.get(kind)?.informer ?? []);
    const problem = [this.#definitions, this.#namespaces, ...needed].map(whyUnread).find((why) => why !== undefined);
    return problem ?? (this.#isToFollow ? stillReading : undefined);
  }

  /** Whether some kind is being read for the first time: only what needs it is not known. */
  get isReading(): boolean {
    return [...this.#following.values()].some(({ informer }) => whyUnread(informer) === stillReading);
  }

  versionOf(object: JsonObject): string | undefined {
    const { informer } = this.#following.get(`${groupOf(object)} ${textAt(object, 'kind')}`) ?? {};
    const known = informer?.get(namespacedName(object));
    return known && textAt(known, 'metadata', 'resourceVersion');
  }

  /** Some objects, with what could not be read in the cluster. */
  worldOf(objects: Iterable<JsonObject>, call: CallHook | undefined): World {
    const unread = [...this.#following].flatMap(([key, { informer }]): World['unread'][number][] => {
      const [group = '', kind = ''] = key.split(' ');
      const why = whyUnread(informer);
      return why === undefined ? [] : [{ group, kind, why }];
    });
    return new World(objects, { unread, call });
  }

  definitions(): JsonObject[] {
    return this.#definitions.list().filter((definition) => textAt(definition, 'spec', 'group') !== '');
  }

  ofKind(group: string, kind: string): JsonObject[] {
    return this.#following.get(`${group} ${kind}`)?.informer.list() ?? [];
  }

  /** Of `NAMESPACE/NAME`, a Cluster and what belongs to it; of `NAMESPACE`, its classes and templates. */
  ownedBy(owner: string): JsonObject[] {
    this.#byOwner ??= Map.groupBy(
      [...this.#following.values()].flatMap(({ informer }) => informer.list()),
      ownerOf,
    );
    return this.#byOwner.get(owner) ?? [];
  }

  namespaceLabels(namespace: string): JsonObject {
    return objectAt(this.#namespaces.get(namespace), 'metadata', 'labels');
  }

  /** Kinds to watch, and the versions that classes name. */
  #wanted(): Map<string, string | undefined> {
    const wanted = new Map<string, string | undefined>([...ownKinds].map((kind) => [kind, undefined]));
    for (const clusterClass of this.ofKind(coreGroup, 'ClusterClass')) {
      for (const reference of templateReferences(clusterClass)) {
        const [group = '', version] = textAt(reference, 'apiVersion').split('/');
        const kind = textAt(reference, 'kind');
        wanted.set(`${group} ${kind}`, version);
        // Those of clouds are in the group of the infrastructure.
        if (kind.endsWith('ControlPlaneTemplate')) {
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
    const apiVersion = `${group}/${version}`;
    const kind = key.split(' ')[1] ?? '';
    // Items of a list may lack both.
    const keep = (object: JsonObject) => prepared({ ...object, apiVersion, kind });
    const informer = this.#watch(`/apis/${apiVersion}/${plural}`, `${plural}.${group}`, keep, () => {
      this.#byOwner = undefined;
      if (key === `${coreGroup} ClusterClass`) {
        this.#followSoon();
      }
    });
    this.#following.set(key, { version, informer });
  }

  #end(key: string): void {
    this.#following.get(key)?.informer.stop();
    this.#following.delete(key);
    this.#byOwner = undefined;
  }
}
