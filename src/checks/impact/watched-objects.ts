import type { KubeConfig } from '@kubernetes/client-node';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { type Informer, startInformer } from '../../kubernetes/client/index.ts';
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

const ownKinds = [
  ...['Cluster', 'ClusterClass', 'MachineDeployment', 'MachinePool', 'MachineSet', 'Machine'].map(
    (kind) => `${coreGroup} ${kind}`,
  ),
  `${runtimeGroup} ExtensionConfig`,
];

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

export type WatchedObjects = ReturnType<typeof watchObjects>;

/** Clusters and their Machines, classes, and the kinds that these name. Plans do without what belongs to a single Machine. */
export function watchObjects(config: KubeConfig, onProblem: (resource: string, problem: string | undefined) => void) {
  const following = new Map<string, { version: string; informer: Informer }>();
  /** The objects by `ownerOf`; undefined since one of them has changed. */
  let byOwner: Map<string, JsonObject[]> | undefined;
  let isToFollow = false;
  const watch = (path: string, resource: string, keep: (object: JsonObject) => JsonObject, onChange = () => {}) =>
    startInformer(config, {
      ...{ path, resource, keep, maxObjects, maxLength, onChange },
      onProblem: (problem) => onProblem(resource, problem),
    });
  const definitions = watch(
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    'customresourcedefinitions.apiextensions.k8s.io',
    keptDefinition,
    followSoon,
  );
  const namespaces = watch('/api/v1/namespaces', 'namespaces', prepared);

  const ofKind = (group: string, kind: string): JsonObject[] =>
    following.get(`${group} ${kind}`)?.informer.list() ?? [];

  /** Kinds to watch, and the versions that classes name. */
  function wantedKinds(): Map<string, string | undefined> {
    const wanted = new Map<string, string | undefined>(ownKinds.map((kind) => [kind, undefined]));
    for (const reference of ofKind(coreGroup, 'ClusterClass').flatMap(templateReferences)) {
      const [group = '', version] = textAt(reference, 'apiVersion').split('/');
      const kind = textAt(reference, 'kind');
      wanted.set(`${group} ${kind}`, version);
      // Those of clouds are in the group of the infrastructure.
      if (kind.endsWith('ControlPlaneTemplate')) {
        wanted.set(`${group} ${kind.replace(/Template$/, '')}`, undefined);
      }
    }
    return wanted;
  }

  /** Once for many changes. */
  function followSoon(): void {
    if (!isToFollow) {
      isToFollow = true;
      setImmediate(() => {
        isToFollow = false;
        follow();
      });
    }
  }

  /** Begins to watch kinds that are wanted and defined, and ends what is not any more. */
  function follow(): void {
    const wanted = wantedKinds();
    const defined = new Set<string>();
    for (const { spec } of definitions.list()) {
      const [group, kind, plural] = [
        textAt(spec, 'group'),
        textAt(spec, 'names', 'kind'),
        textAt(spec, 'names', 'plural'),
      ];
      const key = `${group} ${kind}`;
      const served = objectsAt(spec, 'versions').filter((version) => version.served === true);
      const version =
        [wanted.get(key), 'v1beta2'].find((name) => served.some((one) => one.name === name)) ??
        textAt(served.find(({ storage }) => storage === true) ?? served[0], 'name');
      if (!wanted.has(key) || version === '') {
        continue;
      }
      defined.add(key);
      if (following.get(key)?.version === version) {
        continue;
      }
      end(key);
      const apiVersion = `${group}/${version}`;
      // Items of a list may lack both.
      const keep = (object: JsonObject) => prepared({ ...object, apiVersion, kind });
      const informer = watch(`/apis/${apiVersion}/${plural}`, `${plural}.${group}`, keep, () => {
        byOwner = undefined;
        if (key === `${coreGroup} ClusterClass`) {
          followSoon();
        }
      });
      following.set(key, { version, informer });
    }
    for (const key of [...following.keys()].filter((one) => !defined.has(one))) {
      end(key);
    }
  }

  function end(key: string): void {
    following.get(key)?.informer.stop();
    following.delete(key);
    byOwner = undefined;
  }

  return {
    /** Why it is not known which Clusters a write concerns, or which kinds there are to watch. */
    get problem(): string | undefined {
      const needed = ['Cluster', 'ClusterClass'].flatMap(
        (kind) => following.get(`${coreGroup} ${kind}`)?.informer ?? [],
      );
      const problem = [definitions, namespaces, ...needed].map(whyUnread).find((why) => why !== undefined);
      return problem ?? (isToFollow ? stillReading : undefined);
    },
    /** Whether some kind is being read for the first time: only what needs it is not known. */
    get isReading(): boolean {
      return [...following.values()].some(({ informer }) => whyUnread(informer) === stillReading);
    },
    versionOf(object: JsonObject): string | undefined {
      const { informer } = following.get(`${groupOf(object)} ${textAt(object, 'kind')}`) ?? {};
      const known = informer?.get(namespacedName(object));
      return known && textAt(known, 'metadata', 'resourceVersion');
    },
    /** Some objects, with what could not be read in the cluster. */
    worldOf(objects: Iterable<JsonObject>, call: CallHook | undefined): World {
      const unread = [...following].flatMap(([key, { informer }]): World['unread'][number][] => {
        const [group = '', kind = ''] = key.split(' ');
        const why = whyUnread(informer);
        return why === undefined ? [] : [{ group, kind, why }];
      });
      return new World(objects, { unread, call });
    },
    definitions: (): JsonObject[] => definitions.list().filter((one) => textAt(one, 'spec', 'group') !== ''),
    ofKind,
    /** Of `NAMESPACE/NAME`, a Cluster and what belongs to it; of `NAMESPACE`, its classes and templates. */
    ownedBy(owner: string): JsonObject[] {
      byOwner ??= Map.groupBy(
        [...following.values()].flatMap(({ informer }) => informer.list()),
        ownerOf,
      );
      return byOwner.get(owner) ?? [];
    },
    namespaceLabels: (namespace: string): JsonObject => objectAt(namespaces.get(namespace), 'metadata', 'labels'),
  };
}
