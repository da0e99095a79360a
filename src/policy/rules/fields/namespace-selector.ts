import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import type { LabelSelector } from '../../../kubernetes/index.ts';

/** The namespaceSelector with absent keys and operators as empty ones; undefined if there is none. */
export function namespaceSelectorOf({ spec }: ExtensionConfig): LabelSelector | undefined {
  const { namespaceSelector: selector } = spec ?? {};
  return selector?.matchExpressions?.some(({ key, operator }) => key === undefined || operator === undefined)
    ? { ...selector, matchExpressions: selector.matchExpressions.map((one) => ({ key: '', operator: '', ...one })) }
    : (selector as LabelSelector | undefined);
}
