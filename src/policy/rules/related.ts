import { shortList } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import {
  type LabelSelector,
  selectorSize,
  selectorsOverlap,
  selectsEverything,
  selectsLabels,
} from '../../kubernetes/index.ts';
import type { Facts, HandlerReference, KnownCluster, KnownExtensionConfig } from '../facts/store.ts';

export function someOf(names: Iterable<string>): string {
  return shortList([...new Set(names)], 3);
}

/**
 * The Clusters in namespaces that an extension is called for, for a message; undefined if there are none. Each namespace
 * is looked up once: there may be as many Clusters as the whole cluster has.
 */
export function someClusters(
  clusters: readonly KnownCluster[],
  selector: LabelSelector | undefined,
  facts: Facts,
): string | undefined {
  const namespaces = new Set(clusters.map(({ namespace }) => namespace));
  const selected = new Set([...namespaces].filter((namespace) => selectsNamespace(selector, namespace, facts)));
  const called = clusters.filter(({ namespace }) => selected.has(namespace));
  return called.length === 0 ? undefined : someOf(called.map(({ key }) => `Cluster ${key}`));
}

/** Whether a selector is small enough to be compared with many others: one that lists namespaces has a few dozen values. */
export function isComparable(selector: LabelSelector | undefined): selector is LabelSelector {
  return selector !== undefined && selectorSize(selector) <= 500;
}

/** The places where ClusterClasses name handlers, for a message: each class once, with its first place. */
export function someReferences(references: Iterable<HandlerReference>): string {
  const byClass = Map.groupBy(references, ({ clusterClass }) => clusterClass);
  return someOf(Array.from(byClass, ([clusterClass, [first]]) => `ClusterClass ${clusterClass} (${first?.field})`));
}

/** Whether an extension is called for a namespace; undefined if that is unknown. */
export function selectsNamespace(
  selector: LabelSelector | undefined,
  namespace: string,
  { namespaces }: Facts,
): boolean | undefined {
  if (selector === undefined) {
    return false;
  }
  if (selectsEverything(selector)) {
    return true;
  }
  const labels = namespaces?.get(namespace);
  return labels && selectsLabels(selector, labels);
}

/** The other ExtensionConfigs that are called for a namespace that this one is called for, as far as selectors tell. */
export function overlapping(
  others: readonly KnownExtensionConfig[],
  { metadata: { name }, spec }: ExtensionConfig,
): string[] {
  const selector = spec?.namespaceSelector;
  // Usually the first ones select everything.
  const compared = others.filter((other) => other.name !== name).slice(0, 20);
  const overlaps = ({ namespaceSelector }: KnownExtensionConfig) =>
    isComparable(selector) && isComparable(namespaceSelector) && selectorsOverlap(selector, namespaceSelector);
  return compared.filter(overlaps).map((other) => other.name);
}
