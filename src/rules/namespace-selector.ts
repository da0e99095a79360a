import type { ExtensionConfig } from '../api/index.ts';
import type { LabelSelector } from '../kubernetes/index.ts';

/** The namespaceSelector with the absent parts of its requirements filled in; undefined when there is none. */
export function namespaceSelectorOf(object: ExtensionConfig): LabelSelector | undefined {
  const selector = object.spec?.namespaceSelector;
  if (selector === undefined || selector === null) {
    return undefined;
  }
  if ((selector.matchExpressions ?? []).every(({ key, operator }) => key !== undefined && operator !== undefined)) {
    return selector as LabelSelector;
  }
  return {
    matchLabels: selector.matchLabels ?? {},
    matchExpressions: (selector.matchExpressions ?? []).map(({ key, operator, values }) => ({
      key: key ?? '',
      operator: operator ?? '',
      values: values ?? [],
    })),
  };
}
