import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { extensionOfHandler, group as runtimeGroup } from '../../extensionconfig/index.ts';
import {
  groupOf,
  isSame,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import {
  type CallHook,
  type ClusterPlan,
  classNameOf,
  coreGroup,
  type PlanRequest,
  plan,
  templateReferences,
  type World,
} from '../../topology/index.ts';
import { offersUpdates } from '../plan/index.ts';

/** The objects of a cluster, as far as plans read them. */
export interface Watched {
  /** A state of some objects; what could not be read of them is as in the cluster. */
  worldOf(objects: Iterable<JsonObject>, call: CallHook | undefined): World;
  /** Definitions of Cluster API and of providers. */
  definitions(): JsonObject[];
  ofKind(group: string, kind: string): JsonObject[];
  /** A Cluster and what belongs to it. */
  ofCluster(namespace: string, name: string): JsonObject[];
  /** Classes and templates of a namespace. */
  shared(namespace: string): JsonObject[];
  namespaceLabels(namespace: string): JsonObject;
}

/** A write, with the object as it is stored before and after it. */
export interface Change {
  object: JsonObject;
  /** Absent if the object is created. */
  old: JsonObject | undefined;
}

/** The effect of a write on Machines. */
export interface Impact {
  /** The plans of the Clusters that were planned. */
  clusters: ClusterPlan[];
  /** How many Clusters use the object. */
  total: number;
  /** Clusters about which nothing can be said, as they depend on an extension that is replaced. */
  unasked: { extension: string; clusters: string[] } | undefined;
}

interface ImpactOptions extends Pick<PlanRequest, 'clusterApiVersion' | 'now' | 'updatesInPlace'> {
  call?: CallHook | undefined;
  /** Whether to end with what is known by now. */
  shouldStop(): boolean;
  signal: AbortSignal;
}

/** Clusters whose plans are made at once: what they share is read once for them. */
const batchSize = 40;
/** Of the first batch, after which it is known how long it takes. */
const firstBatchSize = 10;

const kindOf = (object: JsonObject): string => `${groupOf(object)} ${textAt(object, 'kind')}`;

const isSameObject = (one: JsonObject, other: JsonObject): boolean =>
  kindOf(one) === kindOf(other) && nameOf(one) === nameOf(other) && namespaceOf(one) === namespaceOf(other);

/** Extensions that the patches of a class name: `NAME` of `HANDLER.NAME`. */
function extensionsOf(clusterClass: JsonObject): Set<string> {
  const named = objectsAt(clusterClass, 'spec', 'patches').flatMap((patch) => {
    const external = objectAt(patch, 'external');
    const handlers = Object.entries(external).filter(([field]) => field !== 'settings');
    return handlers.map(([, handler]) => (typeof handler === 'string' ? extensionOfHandler(handler) : ''));
  });
  return new Set(named.filter((name) => name !== ''));
}

function clustersOfExtension(name: string, watched: Watched): string[] {
  const classes = new Set(
    watched
      .ofKind(coreGroup, 'ClusterClass')
      .filter((clusterClass) => extensionsOf(clusterClass).has(name))
      .map(namespacedName),
  );
  return watched
    .ofKind(coreGroup, 'Cluster')
    .filter((cluster) => classes.has(classNameOf(cluster)))
    .map(namespacedName);
}

/** Clusters of a class, those with the most Machines first. */
function clustersOfClass(clusterClass: JsonObject, watched: Watched): JsonObject[] {
  const key = namespacedName(clusterClass);
  const machines = (cluster: JsonObject) =>
    watched.ofCluster(namespaceOf(cluster), nameOf(cluster)).filter(({ kind }) => kind === 'Machine').length;
  return watched
    .ofKind(coreGroup, 'Cluster')
    .filter((cluster) => classNameOf(cluster) === key)
    .map((cluster) => ({ cluster, count: machines(cluster) }))
    .toSorted((one, other) => other.count - one.count)
    .map(({ cluster }) => cluster);
}

/** Whether a class names templates that are not known: created in the same `kubectl apply`, perhaps. */
export function lacksTemplates({ object }: Change, watched: Watched): boolean {
  if (object.kind !== 'ClusterClass') {
    return false;
  }
  const known = new Set(watched.shared(namespaceOf(object)).map((one) => `${kindOf(one)} ${nameOf(one)}`));
  return templateReferences(object).some((one) => !known.has(`${kindOf(one)} ${textAt(one, 'name')}`));
}

const nothing: Impact = { clusters: [], total: 0, unasked: undefined };

/** The effect of a write of a Cluster, a ClusterClass or an ExtensionConfig on Machines, as far as is known when it stops. */
export async function impactOf(change: Change, watched: Watched, options: ImpactOptions): Promise<Impact> {
  const { object, old } = change;
  if (object.kind === 'ExtensionConfig') {
    const isChanged = !isSame(objectAt(object, 'spec').clientConfig, objectAt(old, 'spec').clientConfig);
    const clusters = isChanged ? clustersOfExtension(nameOf(object), watched) : [];
    return {
      ...nothing,
      total: clusters.length,
      unasked: clusters.length === 0 ? undefined : { extension: nameOf(object), clusters },
    };
  }
  if (old === undefined || isSame(object.spec, old.spec)) {
    return nothing;
  }
  const isClass = object.kind === 'ClusterClass';
  const clusters = isClass ? clustersOfClass(object, watched) : [old];
  const namespaces = new Set(
    isClass ? [namespaceOf(object)] : [object, old].map((one) => classNameOf(one).split('/')[0] ?? ''),
  );
  const shared = [...watched.definitions(), ...[...namespaces].flatMap((namespace) => watched.shared(namespace))];
  // If it is not known which extensions there are, asking them says so, where a Machine depends on it.
  const isUnknown = !watched.worldOf([], undefined).isRead(runtimeGroup, 'ExtensionConfig');
  const updatesInPlace =
    options.updatesInPlace === true &&
    (isUnknown || watched.ofKind(runtimeGroup, 'ExtensionConfig').some(offersUpdates));
  const plans: ClusterPlan[] = [];
  const stop = new AbortController();
  for (let from = 0; from < clusters.length && !stop.signal.aborted; ) {
    const batch = clusters.slice(from, from + (from === 0 ? firstBatchSize : batchSize));
    from += batch.length;
    const own = batch.flatMap((cluster) => watched.ofCluster(namespaceOf(cluster), nameOf(cluster)));
    const others = [...shared, ...own].filter((one) => !isSameObject(one, object));
    try {
      const worldWith = (written: JsonObject) => watched.worldOf([written, ...others], options.call);
      await plan(worldWith(old), worldWith(object), {
        clusterApiVersion: options.clusterApiVersion,
        now: options.now,
        updatesInPlace,
        isChecked: true,
        onCluster(clusterPlan) {
          plans.push(clusterPlan);
          if (options.shouldStop()) {
            stop.abort();
          }
        },
        signal: AbortSignal.any([options.signal, stop.signal]),
      });
    } catch (error) {
      if (!stop.signal.aborted && !options.signal.aborted) {
        throw error;
      }
      break;
    }
    // Watches go on, and newer reviews arrive.
    await nextTurn();
    if (options.shouldStop()) {
      break;
    }
  }
  return { clusters: plans, total: clusters.length, unasked: undefined };
}

const replacedIn = ({ groups }: ClusterPlan): number =>
  groups.reduce((sum, { machines }) => sum + machines.replaced, 0);

/** How many Machines are replaced. */
export const replacedBy = ({ clusters }: Impact): number =>
  clusters.reduce((sum, cluster) => sum + replacedIn(cluster), 0);

/** Identifies a plan: which Machines it replaces, and for which fields and values. */
export function hashOf({ clusters }: Impact): string {
  const replacements = clusters
    .flatMap(({ cluster, groups }) =>
      groups
        .filter(({ machines }) => machines.replaced > 0)
        .map(({ group, kind, machines, causes }) => [
          cluster,
          kind,
          group,
          machines.replaced,
          causes
            .map(({ object, field, before, after }) => JSON.stringify([object.split(' ')[0], field, before, after]))
            .toSorted(),
        ]),
    )
    .map((replacement) => JSON.stringify(replacement))
    .toSorted();
  return createHash('sha256').update(JSON.stringify(replacements)).digest('hex').slice(0, 12);
}

/** The label of a namespace: `deny` if Machines in it are replaced only with a permission, `ignore` for no reviews. */
const replacementLabel = 'impact.extensionconfig-webhook/replacement';
/** The annotation that permits a replacement, in the same write: the hash of its plan, or `true`. */
export const allowAnnotation = 'impact.extensionconfig-webhook/allow-replacement';

/** The namespaces that do not permit what the write replaces in them; empty if it may be done. */
export function deniedIn(impact: Impact, { object, old }: Change, watched: Watched): string[] {
  const permission = textAt(object, 'metadata', 'annotations', allowAnnotation);
  const isNew = permission !== textAt(old, 'metadata', 'annotations', allowAnnotation);
  if ((permission === 'true' && isNew) || (permission !== '' && permission === hashOf(impact))) {
    return [];
  }
  const namespaces = new Set(
    impact.clusters.filter((cluster) => replacedIn(cluster) > 0).map(({ cluster }) => cluster.split('/')[0] ?? ''),
  );
  return [...namespaces].filter((namespace) => watched.namespaceLabels(namespace)[replacementLabel] === 'deny');
}
