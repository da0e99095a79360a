import { labelSelectorContradiction, labelSelectorProblems } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import { namespaceSelectorOf } from '../fields/namespace-selector.ts';
import type { Rule } from '../rule.ts';

const key = 'kubernetes.io/metadata.name';

export const rule: Rule = {
  id: 'namespace-selector-contradiction',
  summary: 'Some namespace can match namespaceSelector: its requirements do not contradict each other.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  check({ object }, report) {
    const selector = namespaceSelectorOf(object);
    if (selector === undefined) {
      return;
    }
    const contradiction = labelSelectorContradiction(selector);
    // Invalid selectors are reported by rule namespace-selector.
    if (contradiction !== undefined && labelSelectorProblems(selector, 1).length === 0) {
      report({
        path: ['spec', 'namespaceSelector'],
        reason: 'FieldValueInvalid',
        message: `can never match, so the extension is never called: ${contradiction}; remove one of the requirements`,
      });
    }
  },
  example: {
    bad: example({
      spec: {
        namespaceSelector: { matchLabels: { [key]: 'a' }, matchExpressions: [{ key, operator: 'In', values: ['b'] }] },
      },
    }),
    good: example({ spec: { namespaceSelector: { matchExpressions: [{ key, operator: 'In', values: ['a', 'b'] }] } } }),
  },
};
