import type { Facts, HandlerReference, KnownExtensionConfig } from '../facts/index.ts';
import { type LabelSelector, selectorsOverlap, selectsEverything, selectsLabels } from '../kubernetes/index.ts';

/** Most names that a message has. */
const maxNamed = 3;
/** Most other objects that are compared with the one that is checked: most overlap at once, since they select everything. */
const maxCompared = 20;

/** Names for a message, the first few and the number of the rest: `a, b, c and 4 more`. */
export function someOf(names: Iterable<string>): string {
  const all = [...new Set(names)];
  const rest = all.length - maxNamed;
  return `${all.slice(0, maxNamed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** The places where ClusterClasses name handlers, for a message: each class once, with its first place. */
export function someReferences(references: Iterable<HandlerReference>): string {
  const firsts = new Map<string, HandlerReference>();
  for (const reference of references) {
    if (!firsts.has(reference.clusterClass)) {
      firsts.set(reference.clusterClass, reference);
    }
  }
  const places = [...firsts.values()].map(({ clusterClass, field }) => `ClusterClass ${clusterClass} (${field})`);
  return someOf(places);
}

/** Whether an extension is called for a namespace; undefined when that is not known. */
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
  const labels = namespaces?.labelsOf(namespace);
  return labels && selectsLabels(selector, labels);
}

/** Those of other ExtensionConfigs that are called for a namespace that this one is called for too, as far as selectors tell. */
export function overlapping(
  others: Iterable<KnownExtensionConfig>,
  name: string | undefined,
  selector: LabelSelector | undefined,
): string[] {
  const found: string[] = [];
  let compared = 0;
  for (const other of others) {
    if (other.name === name) {
      continue;
    }
    if (++compared > maxCompared) {
      break;
    }
    const { namespaceSelector } = other;
    if (selector !== undefined && namespaceSelector !== undefined && selectorsOverlap(selector, namespaceSelector)) {
      found.push(other.name);
    }
  }
  return found;
}
