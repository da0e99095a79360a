import { formatFieldPath, labelSelectorProblems } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import { namespaceSelectorOf } from '../fields/namespace-selector.ts';
import type { Rule } from '../rule.ts';

const path = ['spec', 'namespaceSelector'];

/** Maximum number of problems of one selector that a message lists. */
const maxListed = 10;

export const rule: Rule = {
  id: 'namespace-selector',
  summary: 'namespaceSelector is set (the webhook defaults it to all namespaces) and is a valid label selector.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  check({ object }, report) {
    const selector = namespaceSelectorOf(object);
    if (selector === undefined) {
      report({ path, reason: 'FieldValueRequired', message: 'set a label selector; {} selects all namespaces' });
      return;
    }
    const problems = labelSelectorProblems(selector, maxListed + 1);
    if (problems.length > 0) {
      const texts = problems.slice(0, maxListed).map(({ path: at, message }) => `${formatFieldPath(at)}: ${message}`);
      const more = problems.length > maxListed ? '; and more' : '';
      report({ path, reason: 'FieldValueInvalid', message: `${texts.join('; ')}${more}` });
    }
  },
  example: {
    bad: example({
      spec: {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'in', values: ['team-a'] }],
        },
      },
    }),
    good: example({
      spec: {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['team-a'] }],
        },
      },
    }),
  },
};
