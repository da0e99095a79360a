import { expect, test } from 'vitest';
import { decodeExtensionConfig } from '../../src/api/index.ts';
import { example } from '../../src/rules/example.ts';
import { createRuleSet, type Level, type RuleInput, type RuleSetOptions } from '../../src/rules/index.ts';
import { now, ruleSetOptions } from '../admission/policy.ts';

const inputOf = (object: ReturnType<typeof example>): RuleInput => ({
  ...decodeExtensionConfig(object, 'v1beta2'),
  writtenAs: 'v1beta2',
  version: 'v1beta2',
  subject: 'object',
  isPruned: false,
  now,
});

const bad = inputOf(
  example({ name: 'A', clientConfig: { url: 'https://u@127.0.0.1?q' }, handler: { timeoutSeconds: 0 } }),
);
const found = (options: Partial<RuleSetOptions>) =>
  createRuleSet(ruleSetOptions(options))
    .check(bad)
    .map(({ rule, severity }) => `${severity} ${rule.id}`);

test('findings come in the order of the fields', () => {
  const fields = createRuleSet(ruleSetOptions())
    .check(bad)
    .map(({ field }) => field);
  expect([...new Set(fields)]).toEqual([
    'metadata.name',
    'spec.clientConfig.url',
    'status.handlers[0].name',
    'status.handlers[0].timeoutSeconds',
  ]);
});

test('the upstream profile, and a level above it', () => {
  expect(found({ profile: 'upstream' })).toEqual(['deny name-dns-label']);
  const levels = new Map<string, Level>([['url-local-host', 'deny']]);
  expect(found({ profile: 'upstream', levels })).toEqual(['deny name-dns-label', 'deny url-local-host']);
});

test('enforcement warn spares only what is Cluster API’s own', () => {
  expect(found({ enforcement: 'warn' }).filter((line) => line.startsWith('deny'))).toEqual(['deny name-dns-label']);
});

test('the ratchet takes back what the old object had, and nothing else', () => {
  const rules = createRuleSet(ruleSetOptions());
  const severities = (old: RuleInput) =>
    Object.fromEntries(rules.ratchet(rules.check(bad), () => old).map(({ rule, severity }) => [rule.id, severity]));
  expect(severities(bad)).toMatchObject({ 'name-dns-label': 'deny', 'url-query': 'warn', 'handler-timeout': 'warn' });
  expect(severities(inputOf(example()))).toMatchObject({ 'url-query': 'deny', 'handler-timeout': 'deny' });
});
