import { compareReleases } from '../../../runtimehooks/index.ts';
import { example } from '../examples/manifest.ts';
import { knownHandlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'failure-policy-blocking',
  summary: 'A handler of a blocking hook has failurePolicy Fail.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, options) {
    for (const { handler, path, life } of knownHandlersOf(object, options)) {
      const isBlocking =
        life.blockingSince !== undefined && compareReleases(options.clusterApi, life.blockingSince) >= 0;
      if (isBlocking && handler.failurePolicy === 'Ignore') {
        report({
          path: [...path, 'failurePolicy'],
          reason: 'FieldValueInvalid',
          value: 'Ignore',
          message: `${life.name} is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail`,
        });
      }
    }
  },
  example: {
    bad: example({ handler: { failurePolicy: 'Ignore' } }),
    good: example({ handler: { failurePolicy: 'Fail' } }),
  },
};
