import { shortList } from '../../../base/index.ts';
import { formatFieldPath } from '../../../kubernetes/index.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { unrenderedIn } from '../fields/placeholders.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'not-rendered',
  summary: `No value that the API restricts is a placeholder of a template: \${NAME} or {{ … }}. (For the linter; it replaces what other rules say about the value.)`,
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  check(input, report) {
    const [first, ...others] = input.isPruned ? [] : unrenderedIn(input);
    if (first !== undefined) {
      const more =
        others.length === 0
          ? ''
          : `, as in ${shortList(
              others.map(({ path }) => formatFieldPath(path)),
              3,
            )}`;
      report({
        path: first.path,
        reason: 'FieldValueInvalid',
        value: first.value,
        message: `is not rendered${more}: lint the output of envsubst, clusterctl, helm template or kustomize`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, namespace: `\${NAMESPACE}` } } }),
    good: example({ clientConfig: { service: { ...exampleService, namespace: 'capi-extensions' } } }),
  },
};
