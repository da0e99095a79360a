import { nearestTo, shortList } from '../../../base/index.ts';
import { looksSecret } from '../../../base/secrets/index.ts';
import { kind, type SchemaViolation } from '../../../extensionconfig/index.ts';
import { type CauseReason, type FieldPath, formatFieldPath, isJsonObject, own } from '../../../kubernetes/index.ts';
import type { Schema } from '../../../kubernetes/schema/index.ts';
import { allFieldsOf } from '../field-order.ts';
import { unrenderedIn } from '../fields.ts';
import type { Finding, Rule } from '../rule.ts';

const reasons: Record<SchemaViolation['problem'], CauseReason> = {
  type: 'FieldValueTypeInvalid',
  required: 'FieldValueRequired',
  tooLong: 'FieldValueTooLong',
  tooMany: 'FieldValueTooMany',
  notSupported: 'FieldValueNotSupported',
  invalid: 'FieldValueInvalid',
};

function findingOf({ path, problem, value, message }: SchemaViolation): Finding {
  if (path.length === 0) {
    return { path, reason: reasons[problem], message, verbatim: true };
  }
  // Trust bundles and settings are long, or secret, or both.
  const isShown = !path.includes('caBundle') && !path.includes('settings');
  return { path, reason: reasons[problem], message, ...(isShown ? { value } : {}) };
}

/** Values that are credentials under any key: PEM keys, JWTs, AWS and GitHub keys, URLs with a password. */
const credentialValue =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*$|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_\w{36}|^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]+:[^/?#\s@]+@/;

/** Reports the fields of an object that are not in its schema, but nothing inside an unknown field. */
function forUnknownFields(
  value: unknown,
  schema: Schema,
  report: (path: FieldPath, known: readonly string[]) => void,
  path: FieldPath = [],
): void {
  const { items, properties } = schema;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      forUnknownFields(item, items ?? {}, report, [...path, index]);
    }
    return;
  }
  if (!isJsonObject(value) || properties === undefined) {
    return;
  }
  for (const key of Object.keys(value)) {
    const fieldSchema = own(properties, key);
    if (fieldSchema === undefined) {
      report([...path, key], Object.keys(properties));
    } else {
      forUnknownFields(value[key], fieldSchema, report, [...path, key]);
    }
  }
}

export const schemaRules: readonly Rule[] = [
  {
    id: 'field-type',
    summary: 'Every field has the JSON type that the API defines.',
    severity: 'deny',
    // Cluster API cannot even decode such an object.
    upstream: true,
    subjects: ['object', 'status'],
    check({ violations }, report) {
      for (const { path, problem, value, message } of violations) {
        // Every decoder in Kubernetes treats null as an absent field; only the schema rejects it.
        if (problem === 'type' && value !== null) {
          // yes, no, on and off, for example, as a name.
          const why =
            typeof value === 'boolean' && message.includes('must be of type string')
              ? `${message}; YAML reads ${value ? 'y, yes, on and true' : 'n, no, off and false'} as a boolean: put the text in quotes`
              : message;
          const finding: Finding = { path, reason: 'FieldValueTypeInvalid', value, message: why };
          report(path.length === 0 ? { ...finding, verbatim: true } : finding);
        }
      }
    },
  },
  {
    id: 'schema-limits',
    summary:
      'Every field is within the limits of the CustomResourceDefinition: lengths, counts, ranges, required fields.',
    severity: 'deny',
    subjects: ['object', 'status'],
    isFallback: true,
    check({ violations }, report) {
      for (const violation of violations) {
        // Others are the findings of rule field-type.
        if (violation.problem !== 'type' || violation.value === null) {
          report(findingOf(violation));
        }
      }
    },
  },
  {
    id: 'unknown-field',
    summary: 'Every field exists in the API. (For the linter; the API server prunes others.)',
    severity: 'deny',
    subjects: ['object', 'status'],
    needs: 'manifest',
    check({ object, version }, report) {
      forUnknownFields(object, allFieldsOf(version), (path, known) => {
        const [nearest] = nearestTo(String(path.at(-1)), known);
        const remedy = nearest === undefined ? '' : `; did you mean ${nearest}?`;
        const message = `is not a field of ${kind} ${version}; kubectl rejects it, and the API server drops it${remedy}`;
        report({ path, reason: 'FieldValueForbidden', message });
      });
    },
  },
  {
    id: 'not-rendered',
    summary: `No value is a placeholder of a template: \${NAME} or {{ … }}. (For the linter; other rules do not report the value.)`,
    severity: 'deny',
    needs: 'manifest',
    check({ object, violations }, report) {
      const [first, ...others] = unrenderedIn(object, violations);
      if (first !== undefined) {
        const more =
          others.length === 0
            ? ''
            : `, and so ${others.length === 1 ? 'is' : 'are'} ${shortList(
                others.map(({ path }) => formatFieldPath(path)),
                3,
              )}`;
        report({
          path: first.path,
          value: first.value,
          message: `is a placeholder${more}: lint the output of envsubst, clusterctl, helm template or kustomize`,
        });
      }
    },
  },
  {
    id: 'settings-credentials',
    summary: 'No setting looks like a credential: settings are stored in clear text and sent with every call.',
    severity: 'warn',
    check({ object }, report) {
      const settings = object.spec?.settings ?? {};
      for (const key of Object.keys(settings)) {
        const value = settings[key];
        if (value && (looksSecret(key) || credentialValue.test(value))) {
          report({
            path: ['spec', 'settings', key],
            reason: 'FieldValueForbidden',
            message:
              'looks like a credential, but settings are stored in clear text and sent with every call; keep it in a Secret that the extension server mounts',
          });
        }
      }
    },
  },
];
