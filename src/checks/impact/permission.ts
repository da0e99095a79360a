import { createHash } from 'node:crypto';
import { textAt } from '../../kubernetes/index.ts';
import { type Change, type Impact, replacementLabel, replacementOf, touchesMachines, type Watched } from './impact.ts';
import { keyOf, type Loss } from './losses.ts';

/** The annotation that permits what a write does to Machines: the hash of its plan, or, set by the same write, `true`. */
export const allowAnnotation = 'impact.extensionconfig-webhook/allow-replacement';

const isAskedFor = ({ isGuarded, isLater }: Loss): boolean => isGuarded && !isLater;

/** Which Machines go, and for which fields and values. */
export function hashOf({ losses }: Impact): string {
  const guarded = losses.filter(isAskedFor).map(keyOf);
  return createHash('sha256').update(JSON.stringify(guarded.toSorted())).digest('hex').slice(0, 12);
}

/** Whether a write permits what it does to Machines. @param hash of its plan; undefined if not all is known. */
export function isPermitted({ object, old }: Change, hash: string | undefined): boolean {
  // What is deleted has been permitted by a write before.
  const permission = textAt(object ?? old, 'metadata', 'annotations', allowAnnotation);
  const isNew = object !== undefined && permission !== textAt(old, 'metadata', 'annotations', allowAnnotation);
  return (permission === 'true' && isNew) || (permission !== '' && permission === hash);
}

/** Clusters, as `NAMESPACE/NAME`, about whose Machines it is not known what happens to them now or later. */
function undecidedOf({ clusters, unasked, unplanned, paused }: Impact, change: Change): string[] {
  // The end of a pause is reviewed.
  const isOpen = ({ cluster, groups }: Impact['clusters'][number]) =>
    !paused.has(cluster) &&
    groups.some(({ verdict }) => verdict === 'unknown' || verdict === 'stopped' || verdict === 'refused');
  if (unasked !== undefined) {
    return unasked.clusters;
  }
  return touchesMachines(change) ? [...clusters.filter(isOpen).map(({ cluster }) => cluster), ...unplanned] : [];
}

/** Names a namespace in which Machines go and whose label has a value that is not read. */
export function unreadLabel({ losses }: Impact, watched: Watched): string | undefined {
  const namespaces = losses.map(({ cluster }) => cluster.split('/')[0] ?? '');
  const labelOf = (namespace: string) => replacementOf(watched.namespaceLabels(namespace));
  const namespace = namespaces.find((one) => !['', 'deny', 'ignore'].includes(labelOf(one)));
  return namespace === undefined
    ? undefined
    : `namespace ${namespace} has the label ${replacementLabel}=${labelOf(namespace)}, which does nothing: write deny or ignore`;
}

/** What a write lacks, where permissions are asked for. */
export interface Verdict {
  hash: string | undefined;
  /** Namespaces that do not permit what happens, and those that do not permit it as that is not known. */
  deniedIn: string[];
  undecidedIn: string[];
}

export function verdictOf(impact: Impact, change: Change, watched: Watched): Verdict {
  const undecided = undecidedOf(impact, change);
  const hash = undecided.length > 0 ? undefined : hashOf(impact);
  const isOpen = !isPermitted(change, hash);
  const guardedOf = (clusters: readonly string[]) => {
    const namespaces = new Set(clusters.map((cluster) => cluster.split('/')[0] ?? ''));
    return [...namespaces].filter((namespace) => replacementOf(watched.namespaceLabels(namespace)) === 'deny');
  };
  return {
    hash,
    deniedIn: isOpen ? guardedOf(impact.losses.filter(isAskedFor).map(({ cluster }) => cluster)) : [],
    undecidedIn: isOpen ? guardedOf(undecided) : [],
  };
}
