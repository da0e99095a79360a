import { describe, expect, test } from 'vitest';
import { decodeExtensionConfig } from '../../src/api/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { example, exampleHandler, exampleService } from '../../src/rules/examples/index.ts';
import {
  createRuleSet,
  type Level,
  maxReports,
  parseRulesConfig,
  type RuleInput,
  type RuleSetOptions,
  rules,
} from '../../src/rules/index.ts';
import { maxReportsLength } from '../../src/rules/rule-set.ts';
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

test.each(rules.map(({ id, upstream }) => [id, upstream] as const))('a file of levels may name %s', (id, upstream) => {
  expect(parseRulesConfig(`rules: {${id}: deny}`).get(id)).toBe('deny');
  if (upstream) {
    expect(() => parseRulesConfig(`rules: {${id}: warn}`)).toThrow('Cluster API itself rejects this');
  } else {
    expect(parseRulesConfig(`rules: {${id}: off}`).get(id)).toBe('off');
  }
});

test('a hundred warnings hide no denial, and what is left out is counted', () => {
  const settings = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`token${index}-secret`, 'x']));
  const reports = createRuleSet(ruleSetOptions()).check(
    inputOf(example({ spec: { settings }, handler: { name: 'wrong' } })),
  );
  expect(reports.filter(({ severity }) => severity === 'deny').map(({ field }) => field)).toEqual([
    'status.handlers[0].name',
  ]);
  expect(reports).toHaveLength(maxReports + 1);
  expect(reports.at(-1)).toMatchObject({ severity: 'warn', field: '', message: '51 more findings were left out' });
});

test('all reports together are short, however long each may be', () => {
  const handlers = Array.from({ length: 512 }, () =>
    exampleHandler({ name: '\u0001'.repeat(512), timeoutSeconds: -1 }),
  );
  const reports = createRuleSet(ruleSetOptions()).check(inputOf(example({ name: 'n'.repeat(253), handlers })));
  const length = reports.reduce((sum, { field, message }) => sum + field.length + message.length, 0);
  expect(length).toBeLessThan(maxReportsLength);
});

test('what is over a limit is one finding, and Cluster API’s own where it has one', () => {
  const findings = (object: JsonObject) =>
    createRuleSet(ruleSetOptions())
      .check(inputOf(object))
      .map(({ rule, field }) => `${rule.id} ${field}`);
  const long = (url: string) => example({ clientConfig: { url: `${url}${'x'.repeat(600)}` } });
  expect(findings(long('https://u:p@localhost:0/?a#'))).toEqual(['schema-limits spec.clientConfig.url']);
  expect(findings(long('http://'))).toEqual(['url-valid spec.clientConfig.url']);
  expect(
    findings(example({ annotations: {}, clientConfig: { service: exampleService, caBundle: '!'.repeat(51_201) } })),
  ).toEqual(['schema-limits spec.clientConfig.caBundle']);
  expect(findings(example({ handlers: Array.from({ length: 513 }, () => ({})) }))).toEqual([
    'schema-limits status.handlers',
  ]);
});

describe('limits of a report', () => {
  /** A rule set of one rule, with the messages that it reports. */
  const reporting = (messages: readonly string[], value?: unknown) =>
    createRuleSet(ruleSetOptions(), [
      {
        ...rules.find(({ id }) => id === 'ca-missing')!,
        check: (_, report) => {
          for (const message of messages) {
            report({ path: ['spec'], reason: 'FieldValueInvalid', message, value });
          }
        },
      },
    ]).check(inputOf(example()));

  test('a message is cut after 1,000 characters', () => {
    expect(reporting(['m'.repeat(1000), 'm'.repeat(1001)]).map(({ message }) => message)).toEqual([
      'm'.repeat(1000),
      `${'m'.repeat(1000)}…`,
    ]);
  });

  test('a hundred findings are all of them', () => {
    expect(reporting(Array.from({ length: 100 }, (_, index) => `${index}`))).toHaveLength(100);
    expect(
      reporting(Array.from({ length: 101 }, (_, index) => `${index}`))
        .map(({ message }) => message)
        .slice(99),
    ).toEqual(['99', '1 more findings were left out']);
  });

  test('64 Ki characters together, of which a value counts at most 128', () => {
    // Each has 4 characters of field, 892 of message and 128 of value: 1,024.
    const messages = Array.from({ length: 65 }, () => 'm'.repeat(892));
    expect(reporting(messages, 'v'.repeat(500)).at(-1)).toMatchObject({
      field: '',
      message: '1 more findings were left out',
    });
    expect(reporting(messages.slice(1), 'v'.repeat(500))).toHaveLength(64);
    expect(reporting(messages, 'v'.repeat(100))).toHaveLength(65);
  });
});
