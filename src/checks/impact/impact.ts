import { setImmediate as nextTurn } from 'node:timers/promises';
import { extensionOfHandler, isPaused, group as runtimeGroup } from '../../extensionconfig/index.ts';
import {
  groupOf,
  isSame,
  type JsonObject,
  jsonPatchOf,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import {
  type CallHook,
  type ClusterPlan,
  classNameOf,
  type PlanRequest,
  plan,
  templateReferences,
} from '../../topology/index.ts';
import { offersUpdates } from '../plan/index.ts';
import { keyOf, type Loss, lossesOf } from './losses.ts';
import type { WatchedObjects } from './watched-objects.ts';

export type Watched = Pick<WatchedObjects, 'worldOf' | 'definitions' | 'ofKind' | 'ownedBy' | 'namespaceLabels'>;

/** A write, with the object as it is stored after and before it: undefined if it is deleted or created. */
export interface Change {
  object: JsonObject | undefined;
  old: JsonObject | undefined;
}

export const subjectOf = ({ object, old }: Change): JsonObject => object ?? old ?? {};

export interface Impact {
  clusters: ClusterPlan[];
  total: number;
  /** Those, as `NAMESPACE/NAME`, that were not planned in time. */
  unplanned: string[];
  /** Clusters that depend on an extension that is replaced. */
  unasked: { extension: string; clusters: string[] } | undefined;
  losses: Loss[];
  /** The Clusters, as `NAMESPACE/NAME`, that are paused after the write. */
  paused: ReadonlySet<string>;
}

/** The label of namespaces in which Machines are protected, or not reviewed. */
export const replacementLabel = 'impact.extensionconfig-webhook/replacement';

/** `deny` if Machines in a namespace go only with a permission, `ignore` for no reviews. Who wrote `Deny` relies on it. */
export const replacementOf = (labels: JsonObject | undefined): string => textAt(labels, replacementLabel).toLowerCase();

interface ImpactOptions extends Pick<PlanRequest, 'clusterApiVersion' | 'now' | 'updatesInPlace' | 'onBug'> {
  call?: CallHook | undefined;
  shouldStop(): boolean;
  signal: AbortSignal;
}

/** Clusters that are planned at once, as they share much; and at first, to see how long it takes. */
const batchSize = 500;
const firstBatchSize = 10;

const kindOf = (object: JsonObject): string => `${groupOf(object)} ${textAt(object, 'kind')}`;

const isSameObject = (one: JsonObject, other: JsonObject): boolean =>
  kindOf(one) === kindOf(other) && nameOf(one) === nameOf(other) && namespaceOf(one) === namespaceOf(other);

/** Clusters whose class has a patch that names a handler of an extension. */
function clustersOfExtension(name: string, watched: Watched): string[] {
  const isNamedIn = (patch: JsonObject) =>
    Object.values(objectAt(patch, 'external')).some(
      (handler) => typeof handler === 'string' && extensionOfHandler(handler) === name,
    );
  const classes = watched
    .ofKind(coreGroup, 'ClusterClass')
    .filter((clusterClass) => objectsAt(clusterClass, 'spec', 'patches').some(isNamedIn));
  return clustersOfClasses(classes, watched).map(namespacedName);
}

function clustersOfClasses(classes: readonly JsonObject[], watched: Watched): JsonObject[] {
  const keys = new Set(classes.map(namespacedName));
  return watched.ofKind(coreGroup, 'Cluster').filter((cluster) => keys.has(classNameOf(cluster)));
}

const classesWith = (template: JsonObject, watched: Watched): JsonObject[] =>
  watched
    .ownedBy(namespaceOf(template))
    .filter(
      (object) =>
        object.kind === 'ClusterClass' &&
        templateReferences(object).some((one) => kindOf(one) === kindOf(template) && one.name === nameOf(template)),
    );

/** Of a template of their own, Cluster API corrects what somebody else writes, with another template and new Machines. */
function clustersMadeOf(template: JsonObject, watched: Watched): JsonObject[] {
  const texts = [`"kind":${JSON.stringify(textAt(template, 'kind'))}`, `"name":${JSON.stringify(nameOf(template))}`];
  const isNamedBy = (object: JsonObject) => {
    const isGroup = /^Machine(?:Deployment|Pool)$|ControlPlane$/.test(textAt(object, 'kind'));
    const text = isGroup ? JSON.stringify(object.spec ?? null) : '';
    return texts.every((one) => text.includes(one));
  };
  const own = watched.ofKind(coreGroup, 'Cluster').filter((cluster) => namespaceOf(cluster) === namespaceOf(template));
  return own.filter((cluster) => watched.ownedBy(namespacedName(cluster)).some(isNamedBy));
}

function clustersOf(change: Change, watched: Watched): JsonObject[] {
  const subject = subjectOf(change);
  switch (subject.kind) {
    case 'Cluster':
      return change.old === undefined ? [] : [change.old];
    case 'ClusterClass':
      return clustersOfClasses([subject], watched);
    case 'Namespace':
      return watched.ofKind(coreGroup, 'Cluster').filter((cluster) => namespaceOf(cluster) === nameOf(subject));
    default: {
      const ofClasses = clustersOfClasses(classesWith(subject, watched), watched);
      return ofClasses.length > 0 ? ofClasses : clustersMadeOf(subject, watched);
    }
  }
}

/** Whether the written object names what is not known: created in the same `kubectl apply`, perhaps. */
export function lacksObjects(change: Change, watched: Watched): boolean {
  const { object = {} } = change;
  const className = object.kind === 'Cluster' ? classNameOf(object) : '/';
  if (object.kind !== 'ClusterClass' && className.endsWith('/')) {
    return false;
  }
  const classes = object.kind === 'ClusterClass' ? [object] : watched.ofKind(coreGroup, 'ClusterClass');
  const clusterClass = classes.find((one) => one === object || namespacedName(one) === className);
  if (clusterClass === undefined) {
    return true;
  }
  const known = new Set(watched.ownedBy(namespaceOf(clusterClass)).map((one) => `${kindOf(one)} ${nameOf(one)}`));
  return templateReferences(clusterClass).some((one) => !known.has(`${kindOf(one)} ${textAt(one, 'name')}`));
}

const nothing: Impact = { clusters: [], total: 0, unplanned: [], unasked: undefined, losses: [], paused: new Set() };

/** What never replaces a Machine in a spec: a pause, and of a group its number, when it is unhealthy, how it goes. */
const free =
  /^\/(?:paused$|(?:topology\/)?(?:controlPlane|workers\/[^/]+\/\d+)\/(?:replicas|healthCheck|deletion)(?:\/|$))/;

const endsPause = ({ object, old }: Change): boolean =>
  object !== undefined && old !== undefined && isPaused(old) && !isPaused(object);

/** Whether a write changes what Machines are made of, or lets such a change happen. */
export const touchesMachines = (change: Change): boolean =>
  change.object === undefined ||
  endsPause(change) ||
  jsonPatchOf(objectAt(change.old, 'spec'), objectAt(change.object, 'spec')).some(({ path }) => !free.test(path));

/** Whether a write may have an effect on Machines. Patches read labels and annotations of Clusters. */
const mayMatter = ({ object, old }: Change): boolean =>
  object === undefined ||
  !isSame(object.spec, old?.spec) ||
  (object.kind === 'Cluster' &&
    ['labels', 'annotations'].some(
      (field) => !isSame(objectAt(object, 'metadata')[field], objectAt(old, 'metadata')[field]),
    ));

/** The extension that a write replaces by another release, at another address, or with other settings. */
function unaskedOf({ object, old }: Change, watched: Watched): Impact {
  const askedOf = (config: JsonObject | undefined) => {
    const { caBundle: _caBundle, ...address } = objectAt(config, 'spec', 'clientConfig');
    return { address, settings: objectAt(config, 'spec', 'settings') };
  };
  const extension = nameOf(object ?? {});
  const clusters = isSame(askedOf(object), askedOf(old)) ? [] : clustersOfExtension(extension, watched);
  return clusters.length === 0 ? nothing : { ...nothing, total: clusters.length, unasked: { extension, clusters } };
}

/** The effect of a write on Machines, as far as is known when it stops. */
export async function impactOf(change: Change, watched: Watched, options: ImpactOptions): Promise<Impact> {
  const { object, old } = change;
  const subject = subjectOf(change);
  if (subject.kind === 'ExtensionConfig') {
    return unaskedOf(change, watched);
  }
  const isReviewed = (cluster: JsonObject) => replacementOf(watched.namespaceLabels(namespaceOf(cluster))) !== 'ignore';
  const clusters = mayMatter(change) ? clustersOf(change, watched).filter(isReviewed) : [];
  if (clusters.length === 0) {
    return nothing;
  }
  const namespaces = new Set([
    namespaceOf(subject),
    ...[object ?? {}, ...clusters].map((one) => classNameOf(one).split('/')[0] ?? ''),
  ]);
  const shared = [...watched.definitions(), ...[...namespaces].flatMap((namespace) => watched.ownedBy(namespace))];
  // If it is not known which extensions there are, asking them says so, where a Machine depends on it.
  const isUnknown = !watched.worldOf([], undefined).isRead(runtimeGroup, 'ExtensionConfig');
  const updatesInPlace =
    options.updatesInPlace === true &&
    (isUnknown || watched.ofKind(runtimeGroup, 'ExtensionConfig').some(offersUpdates));
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  async function planned(batch: readonly JsonObject[], from: JsonObject | undefined, to: JsonObject | undefined) {
    const own = batch.flatMap((cluster) => watched.ownedBy(namespacedName(cluster)));
    const others = [...shared, ...own].filter((one) => !isSameObject(one, subject));
    // With a namespace, all that is in it goes.
    const left = subject.kind === 'Namespace' ? others.filter(({ kind }) => kind !== 'Cluster') : others;
    const worldWith = (written: JsonObject | undefined, rest: readonly JsonObject[]) =>
      watched.worldOf(written === undefined ? rest : [written, ...rest], options.call);
    const plans: ClusterPlan[] = [];
    try {
      await plan(worldWith(from, others), worldWith(to, left), {
        ...{ ...options, updatesInPlace, isChecked: true, signal },
        onCluster(clusterPlan) {
          plans.push(clusterPlan);
          if (options.shouldStop()) {
            stop.abort();
          }
        },
      });
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
    return plans;
  }
  // A template that no class names is what exists of its Cluster: what is made of the class is compared with it.
  const isExisting = textAt(subject, 'kind').endsWith('Template') && classesWith(subject, watched).length === 0;
  const start = isExisting ? object : old;
  const plans: ClusterPlan[] = [];
  for (let from = 0; from < clusters.length && !(from > 0 && options.shouldStop()); ) {
    const batch = clusters.slice(from, from + (from === 0 ? firstBatchSize : batchSize));
    from += batch.length;
    plans.push(...(await planned(batch, start, object)));
    // Watches go on, and newer reviews arrive.
    await nextTurn();
  }
  const paused = new Set(
    clusters.filter((cluster) => isPaused(cluster === old ? (object ?? old) : cluster)).map(namespacedName),
  );
  const losses = lossesOf(plans, paused, touchesMachines(change));
  const done = new Set(plans.map(({ cluster }) => cluster));
  const impact: Impact = {
    clusters: plans,
    total: clusters.length,
    unplanned: clusters.map(namespacedName).filter((name) => !done.has(name)),
    unasked: undefined,
    losses,
    paused,
  };
  const isOfOne = subject.kind === 'Cluster' || isExisting;
  if (losses.length === 0 || endsPause(change) || !isOfOne || object === undefined) {
    return impact;
  }
  // A class that was written just now, for instance, has said so itself.
  const underWay = new Set(lossesOf(await planned(clusters, old, old), paused, false).map(keyOf));
  return { ...impact, losses: losses.filter((loss) => !underWay.has(keyOf(loss))) };
}
