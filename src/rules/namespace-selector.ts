import type { ExtensionConfig } from '../api/index.ts';
import type { LabelSelector } from '../kubernetes/index.ts';

type GivenSelector = NonNullable<NonNullable<ExtensionConfig['spec']>['namespaceSelector']>;

function complete(selector: GivenSelector): LabelSelector {
  const expressions = selector.matchExpressions;
  if (
    expressions === undefined ||
    expressions.every(({ key, operator }) => key !== undefined && operator !== undefined)
  ) {
    return selector as LabelSelector;
  }
  return {
    matchLabels: selector.matchLabels ?? {},
    matchExpressions: expressions.map(({ key = '', operator = '', values = [] }) => ({ key, operator, values })),
  };
}

/** The namespaceSelector with defaults for absent parts of its requirements; undefined if there is none. */
export function namespaceSelectorOf(object: ExtensionConfig): LabelSelector | undefined {
  const selector = object.spec?.namespaceSelector;
  return selector && complete(selector);
}
