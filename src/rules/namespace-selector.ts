import type { ExtensionConfig } from '../api/index.ts';
import type { LabelSelector } from '../kubernetes/index.ts';

type GivenSelector = NonNullable<NonNullable<ExtensionConfig['spec']>['namespaceSelector']>;

/** Completed selectors, cached since two rules read them. */
const completed = new WeakMap<GivenSelector, LabelSelector>();

function complete(selector: GivenSelector): LabelSelector {
  const expressions = selector.matchExpressions ?? [];
  if (expressions.every(({ key, operator }) => key !== undefined && operator !== undefined)) {
    return selector as LabelSelector;
  }
  return {
    matchLabels: selector.matchLabels ?? {},
    matchExpressions: expressions.map(({ key = '', operator = '', values = [] }) => ({ key, operator, values })),
  };
}

/** The namespaceSelector with the absent parts of its requirements filled in; undefined when there is none. */
export function namespaceSelectorOf(object: ExtensionConfig): LabelSelector | undefined {
  const selector = object.spec?.namespaceSelector;
  if (selector === undefined) {
    return undefined;
  }
  // The common case, which needs no lookup: nothing to complete.
  if (selector.matchExpressions === undefined) {
    return selector as LabelSelector;
  }
  let found = completed.get(selector);
  if (found === undefined) {
    found = complete(selector);
    completed.set(selector, found);
  }
  return found;
}
