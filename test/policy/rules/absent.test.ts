import { describe, expect, test } from 'vitest';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import { parsedInput, type RuleInput, rules } from '../../../src/policy/index.ts';
import { now, ruleSetOptions } from '../admission/policy.ts';

/** Objects that lack ever more fields, as decoding returns them. */
const bare: Record<string, object> = {
  'no spec': {},
  'an empty spec': { spec: {}, status: {} },
  'an empty clientConfig': { spec: { clientConfig: {}, namespaceSelector: {} }, status: { handlers: [] } },
  'an empty service': { spec: { clientConfig: { service: {} }, namespaceSelector: { matchExpressions: [{}] } } },
  'an empty handler': { spec: { clientConfig: {} }, status: { handlers: [{}, { requestHook: {} }] } },
  'empty settings': { spec: { clientConfig: {}, settings: {} }, metadata: { annotations: {} } },
};

/** For these, all that is known is which rules report something: it must not be that a part is absent. */
function findingsOf(object: object, more: Partial<RuleInput> = {}): string[] {
  const decoded = { metadata: {}, ...object } as ExtensionConfig;
  const input: RuleInput = {
    object: decoded,
    whole: decoded,
    violations: [],
    writtenAs: 'v1beta2',
    version: 'v1beta2',
    subject: 'object',
    isPruned: true,
    now,
    ...more,
  };
  const found: string[] = [];
  for (const rule of rules.filter(({ needs }) => needs !== 'manifest')) {
    rule.check(
      parsedInput(input, ruleSetOptions()),
      ({ path, reason = 'FieldValueInvalid', value }) => {
        found.push(`${rule.id} ${path.join('.')} ${reason.replace('FieldValue', '')} ${JSON.stringify(value) ?? '-'}`);
      },
      ruleSetOptions(),
    );
  }
  return found;
}

const name = ['name-dns-label metadata.name Invalid ""'];
const target = ['client-config-target spec.clientConfig Required -'];
const selector = ['namespace-selector spec.namespaceSelector Required -'];

/** Their errors: only required fields that are missing, even if rules about absent parts are called. */
const expected: Record<keyof typeof bare, string[]> = {
  'no spec': [...name, ...target, ...selector],
  'an empty spec': [...name, ...target, ...selector],
  'an empty clientConfig': [...name, ...target],
  'an empty service': [...name, ...target, 'namespace-selector spec.namespaceSelector Invalid -'],
  'an empty handler': [...name, ...target, ...selector, 'handler-name-unique status.handlers.1.name Duplicate ""'],
  'empty settings': [...name, ...target, ...selector],
};

describe.each(Object.entries(bare))('%s', (which, object) => {
  test('only required fields are reported as missing', () => {
    expect(findingsOf(object)).toEqual(expected[which]);
  });

  test('if nothing is known of the cluster, nothing is reported', () => {
    for (const subject of ['object', 'status', 'deletion'] as const) {
      const oldObject = { metadata: { name: 'a' } } as ExtensionConfig;
      expect(findingsOf(object, { facts: {}, subject, oldObject })).toEqual(expected[which]);
    }
  });
});
