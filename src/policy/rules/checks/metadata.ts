import { labelValueProblems, qualifiedNameProblems } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'metadata',
  summary:
    'Keys of labels and annotations, and values of labels, are valid. (The API server rejects others before it calls any validating webhook.)',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  check({ object: { metadata }, isPruned }, report) {
    if (isPruned) {
      return;
    }
    for (const [key, value] of Object.entries(metadata.labels ?? {})) {
      for (const [shown, problems] of [
        [key, qualifiedNameProblems(key)],
        [value, labelValueProblems(value)],
      ] as const) {
        for (const message of problems) {
          report({ path: ['metadata', 'labels', key], reason: 'FieldValueInvalid', value: shown, message });
        }
      }
    }
    for (const key of Object.keys(metadata.annotations ?? {})) {
      // Only keys of annotations may have capitals in their prefix.
      for (const message of qualifiedNameProblems(key.toLowerCase())) {
        report({ path: ['metadata', 'annotations', key], reason: 'FieldValueInvalid', value: key, message });
      }
    }
  },
  example: {
    bad: example({ metadata: { labels: { team: 'platform team' } } }),
    good: example({ metadata: { labels: { team: 'platform-team' } } }),
  },
};
