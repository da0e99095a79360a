import { dns1123LabelProblems } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

/** Placeholder for the suffix that the API server appends to a generateName: five characters that are valid in any label. */
const generatedSuffix = 'xxxxx';

export const rule: Rule = {
  id: 'name-dns-label',
  summary: 'The name is an RFC 1123 label without dots, because it becomes the last part of every handler name.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  check({ object: { metadata } }, report) {
    const generated = !metadata.name && metadata.generateName;
    const name = generated ? `${metadata.generateName}${generatedSuffix}` : (metadata.name ?? '');
    for (const message of dns1123LabelProblems(name)) {
      report({
        path: ['metadata', generated ? 'generateName' : 'name'],
        reason: 'FieldValueInvalid',
        value: generated ? metadata.generateName : name,
        message,
      });
    }
  },
  example: { bad: example({ name: 'my.extension' }), good: example({ name: 'my-extension' }) },
};
