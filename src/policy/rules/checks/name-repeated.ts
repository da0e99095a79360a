import { kind } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'name-repeated',
  summary: 'No two objects in a file, or in a folder without a kustomization, have the same name. (For the linter.)',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  check({ object: { metadata }, namesake }, report) {
    if (namesake !== undefined) {
      report({
        path: ['metadata', 'name'],
        reason: 'FieldValueDuplicate',
        value: metadata.name,
        message: `is also the name of the ${kind} in ${namesake}: applied to the same cluster, this one replaces it`,
      });
    }
  },
  example: { namesake: 'extensions.yaml:1', bad: example(), good: example({ name: 'another-extension' }) },
};
