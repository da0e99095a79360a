import type { SchemaViolation } from '../../../extensionconfig/index.ts';
import type { CauseReason } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import type { Finding, Rule } from '../rule.ts';

const reasons: Record<SchemaViolation['problem'], CauseReason> = {
  type: 'FieldValueTypeInvalid',
  required: 'FieldValueRequired',
  tooLong: 'FieldValueTooLong',
  tooMany: 'FieldValueTooMany',
  notSupported: 'FieldValueNotSupported',
  invalid: 'FieldValueInvalid',
};

/** Whether the violation is not reported by rule field-type. */
function isReported({ problem, value }: SchemaViolation): boolean {
  return problem !== 'type' || value === null;
}

function findingOf({ path, problem, value, message }: SchemaViolation): Finding {
  if (path.length === 0) {
    return { path, reason: reasons[problem], message, verbatim: true };
  }
  // Trust bundles and settings are long, or secret, or both.
  const isShown = !path.includes('caBundle') && !path.includes('settings');
  return { path, reason: reasons[problem], message, ...(isShown ? { value } : {}) };
}

export const rule: Rule = {
  id: 'schema-limits',
  summary:
    'Every field is within the limits of the CustomResourceDefinition: lengths, counts, ranges, required fields.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'violations',
  isFallback: true,
  check({ violations }, report) {
    for (const violation of violations) {
      if (isReported(violation)) {
        report(findingOf(violation));
      }
    }
  },
  example: {
    bad: example({ clientConfig: { url: `https://extensions.example.com/${'a'.repeat(512)}` } }),
    good: example({ clientConfig: { url: `https://extensions.example.com/a` } }),
  },
};
