import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../../../kubernetes/index.ts';

type GivenSelector = NonNullable<NonNullable<ExtensionConfig['spec']>['namespaceSelector']>;

type GivenRequirement = NonNullable<GivenSelector['matchExpressions']>[number];

const isComplete = ({ key, operator }: GivenRequirement) => key !== undefined && operator !== undefined;

/** Shared by all requirements that lack values, and by those that lack everything: there may be a million. */
const noValues: string[] = [];
const emptyRequirement: LabelSelectorRequirement = Object.freeze({ key: '', operator: '', values: noValues });

function completeRequirement({ key = '', operator = '', values = noValues }: GivenRequirement) {
  return key === '' && operator === '' && values === noValues ? emptyRequirement : { key, operator, values };
}

function complete(selector: GivenSelector): LabelSelector {
  const expressions = selector.matchExpressions;
  return expressions === undefined || expressions.every(isComplete)
    ? (selector as LabelSelector)
    : { matchLabels: selector.matchLabels ?? {}, matchExpressions: expressions.map(completeRequirement) };
}

/** The namespaceSelector with absent parts as empty ones, which are shared; undefined if there is none. */
export function namespaceSelectorOf(object: ExtensionConfig): LabelSelector | undefined {
  const selector = object.spec?.namespaceSelector;
  return selector && complete(selector);
}
