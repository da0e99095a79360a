import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/index.ts';
import { decodeExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  createRuleSet,
  type Finding,
  type Level,
  parseRulesConfig,
  type Rule,
  type RuleInput,
  type RuleSetOptions,
  rules,
} from '../../../src/policy/index.ts';
import { testRows } from '../../support/rows.ts';
import { now, ruleSetOptions } from '../admission/policy.ts';
import { example, exampleHandler, exampleService } from './examples.ts';

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

test('findings are in the order of the fields', () => {
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

test('combines the upstream profile with a higher level', () => {
  expect(found({ profile: 'upstream' })).toEqual(['deny name-dns-label']);
  const levels = new Map<string, Level>([['url-local-host', 'deny']]);
  expect(found({ profile: 'upstream', levels })).toEqual(['deny name-dns-label', 'deny url-local-host']);
});

test('enforcement warn only denies what Cluster API denies', () => {
  expect(found({ enforcement: 'warn' }).filter((line) => line.startsWith('deny'))).toEqual(['deny name-dns-label']);
});

test('ratcheting removes what the old object already had, and nothing else', () => {
  const rules = createRuleSet(ruleSetOptions());
  const severities = (old: RuleInput) =>
    Object.fromEntries(rules.ratchet(rules.check(bad), bad, old).map(({ rule, severity }) => [rule.id, severity]));
  expect(severities(bad)).toMatchObject({ 'name-dns-label': 'deny', 'url-query': 'warn', 'handler-timeout': 'warn' });
  expect(severities(inputOf(example()))).toMatchObject({ 'url-query': 'deny', 'handler-timeout': 'deny' });
});

testRows(
  'a levels file may name each rule',
  rules.map(({ id, upstream }) => [id, upstream] as const),
  (upstream, id) => {
    expect(parseRulesConfig(`rules: {${id}: deny}`).levels.get(id)).toBe('deny');
    if (upstream) {
      expect(() => parseRulesConfig(`rules: {${id}: warn}`)).toThrow('Cluster API itself rejects this');
    } else {
      expect(parseRulesConfig(`rules: {${id}: off}`).levels.get(id)).toBe('off');
    }
  },
);

test('a hundred warnings do not hide a denial, and omitted findings are counted', () => {
  const settings = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`token${index}-secret`, 'x']));
  const reports = createRuleSet(ruleSetOptions()).check(
    inputOf(example({ spec: { settings }, handler: { name: 'wrong' } })),
  );
  expect(reports.filter(({ severity }) => severity === 'deny').map(({ field }) => field)).toEqual([
    'status.handlers[0].name',
  ]);
  expect(reports).toHaveLength(101);
  expect(reports.at(-1)).toMatchObject({ severity: 'warn', field: '', message: '51 more findings' });
});

test('all reports together are short, however long each may be', () => {
  const handlers = Array.from({ length: 512 }, () =>
    exampleHandler({ name: '\u0001'.repeat(512), timeoutSeconds: -1 }),
  );
  const reports = createRuleSet(ruleSetOptions()).check(inputOf(example({ name: 'n'.repeat(253), handlers })));
  const length = reports.reduce((sum, { field, message }) => sum + field.length + message.length, 0);
  expect(length).toBeLessThan(64 * 1024);
});

test('the finding that counts omitted ones is shown without a field', () => {
  const counted = (object: JsonObject) =>
    createRuleSet(ruleSetOptions())
      .check(inputOf(object))
      .filter(({ verbatim }) => verbatim)
      .map(({ rule, field, reason, message }) => [rule.id, field, reason, message]);
  const expressions = (item: JsonObject | number) =>
    example({ spec: { namespaceSelector: { matchExpressions: Array(101).fill(item) } } });
  expect(counted(expressions(7))).toEqual([
    ['field-type', '', 'FieldValueTypeInvalid', '2 more fields have a wrong type'],
  ]);
  expect(counted(expressions({}))).toEqual([
    ['schema-limits', '', 'FieldValueInvalid', '103 more fields do not fit the CustomResourceDefinition'],
    // The selector is invalid, too.
    ['schema-limits', '', 'FieldValueTooMany', '1 more finding'],
  ]);
});

test('wrong types do not crowd out other schema violations', () => {
  const object = example({
    clientConfig: { url: `https://h/${'x'.repeat(600)}` },
    spec: { namespaceSelector: { matchExpressions: Array(150).fill(7) } },
  });
  const reports = createRuleSet(ruleSetOptions()).check(inputOf(object));
  expect(reports.filter(({ rule }) => rule.id === 'schema-limits').map(({ field }) => field)).toEqual([
    'spec.clientConfig.url',
  ]);
});

test('a value over a limit is one finding, and Cluster API’s own if it has one', () => {
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
  /** A rule set with one rule, which reports these messages. */
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

  test('truncates a message after 1,000 characters', () => {
    expect(reporting(['m'.repeat(1000), 'm'.repeat(1001)]).map(({ message }) => message)).toEqual([
      'm'.repeat(1000),
      `${'m'.repeat(1000)}…`,
    ]);
  });

  test('lists up to a hundred findings', () => {
    expect(reporting(Array.from({ length: 100 }, (_, index) => `${index}`))).toHaveLength(100);
    expect(
      reporting(Array.from({ length: 101 }, (_, index) => `${index}`))
        .map(({ message }) => message)
        .slice(99),
    ).toEqual(['99', '1 more finding']);
  });

  test('allows 64 Ki characters in total, of which a value counts at most 128', () => {
    // Each has 4 characters of field, 892 of message and 128 of value: 1,024.
    const messages = Array.from({ length: 65 }, () => 'm'.repeat(892));
    expect(reporting(messages, 'v'.repeat(500)).at(-1)).toMatchObject({
      field: '',
      message: '1 more finding',
    });
    expect(reporting(messages.slice(1), 'v'.repeat(500))).toHaveLength(64);
    expect(reporting(messages, 'v'.repeat(100))).toHaveLength(65);
  });
});

describe('a rule set of invented rules', () => {
  type Check = Rule['check'];
  const silent: Check = () => {};
  const finding = (message: string, more: Partial<Finding> = {}): Finding => ({
    path: ['spec'],
    reason: 'FieldValueInvalid',
    message,
    ...more,
  });
  const times =
    (count: number, message: string): Check =>
    (_, report) => {
      for (let index = 0; index < count; index++) {
        report(finding(`${message} ${index}`));
      }
    };
  const invented = (id: string, check: Check, more: Partial<Rule> = {}): Rule => ({
    id,
    summary: 'Invented.',
    severity: 'deny',
    upstream: false,
    subjects: ['object'],
    check,
    ...more,
  });
  const setOf = (...list: Rule[]) => createRuleSet(ruleSetOptions(), list);
  const input = inputOf(example());

  test.each<[string, [severity: Level, count: number][], object]>([
    ['warnings', [['warn', 130]], { rule: { id: 'r0' }, severity: 'warn', message: '30 more findings' }],
    ['denials', [['deny', 103]], { rule: { id: 'r0' }, severity: 'deny', message: '3 more findings' }],
    [
      'of several rules, the first',
      [
        ['warn', 101],
        ['warn', 101],
      ],
      { rule: { id: 'r0' }, severity: 'warn', message: '102 more findings' },
    ],
    [
      'a denial before a warning',
      [
        ['warn', 101],
        ['deny', 101],
        ['deny', 101],
      ],
      { rule: { id: 'r1' }, severity: 'deny', message: '203 more findings' },
    ],
  ])('the finding that counts omitted ones names a rule: %s', (_, given, note) => {
    const list = given.map(([severity, count], index) =>
      invented(`r${index}`, times(count, 'm'), { severity: severity as 'deny' | 'warn' }),
    );
    const reports = setOf(...list).check(input);
    expect(reports).toHaveLength(101);
    expect(reports.at(-1)).toMatchObject({ ...note, field: '', path: [], reason: 'FieldValueTooMany', verbatim: true });
  });

  test('findings are in the order of the fields, in whatever order rules report them', () => {
    const at =
      (...path: string[]): Check =>
      (_, report) =>
        report(finding('m', { path }));
    const reports = setOf(invented('r0', at('status')), invented('r1', at('spec', 'a')), invented('r2', at('spec')));
    expect(reports.check(input).map(({ field }) => field)).toEqual(['spec', 'spec.a', 'status']);
  });

  test('one rule with many findings leaves room for the others', () => {
    const reports = setOf(
      invented('many', times(500, 'm'), { severity: 'warn' }),
      invented('one', times(1, 'x')),
    ).check(input);
    expect(reports.map(({ message }) => message)).toContain('x 0');
    expect(reports.at(-1)).toMatchObject({ rule: { id: 'many' }, message: '401 more findings' });
  });

  test('a rule runs for its subjects only', () => {
    const ran: string[] = [];
    const set = setOf(
      invented('object', () => void ran.push('object')),
      invented('both', () => void ran.push('both'), { subjects: ['object', 'status'] }),
      invented('deletion', () => void ran.push('deletion'), { subjects: ['deletion'] }),
    );
    const bare = example({ clientConfig: {} });
    const full = example({ clientConfig: { url: 'https://h', service: exampleService } });
    for (const parts of [full, bare]) {
      for (const subject of ['object', 'status', 'deletion'] as const) {
        set.check({ ...inputOf(parts), violations: [], subject });
        ran.push('-');
      }
    }
    const once = ['object', 'both', '-', 'both', '-', 'deletion', '-'];
    expect(ran).toEqual([...once, ...once]);
  });

  test('Cluster API’s own rules see the whole object, the others the part within its limits', () => {
    const seen: unknown[] = [];
    const look: Check = ({ object }) => void seen.push(object);
    const whole = { ...input.object };
    const set = setOf(invented('own', look), invented('upstream', look, { upstream: true }));
    set.check({ ...input, whole });
    expect(seen[0]).toBe(input.object);
    expect(seen[1]).toBe(whole);
  });

  test('a finding is reported with its rule, severity and field', () => {
    const value = { a: 1 };
    expect(
      setOf(
        invented('r', (_, report) => report(finding('m', { path: ['a', 0, 'b.c'], value })), { severity: 'warn' }),
      ).check(input),
    ).toMatchObject([
      { rule: { id: 'r' }, severity: 'warn', field: 'a[0][b.c]', message: 'm', value, reason: 'FieldValueInvalid' },
    ]);
    expect(setOf(invented('r', silent)).check(input)).toEqual([]);
  });

  describe('ratcheting validation', () => {
    const old = input;
    const ratcheted = (now: Finding, before: Finding, more: Partial<Rule> = {}) => {
      let given = now;
      const set = setOf(invented('r', (_, report) => report(given), more));
      const reports = set.check(input);
      given = before;
      return set.ratchet(reports, input, old);
    };

    test('changes nothing if there is no denial that the old object could affect', () => {
      const set = setOf(
        invented('w', (_, report) => report(finding('m')), { severity: 'warn' }),
        invented('u', (_, report) => report(finding('m')), { upstream: true }),
      );
      const reports = set.check(input);
      expect(reports).toHaveLength(2);
      expect(set.ratchet(reports, input, old)).toBe(reports);
      expect(set.ratchet([], input, old)).toEqual([]);
    });

    test.each<[string, Finding, Finding, string]>([
      ['the same', finding('m'), finding('m'), 'warn'],
      ['another text about the same value', finding('m', { value: 1 }), finding('n', { value: 1 }), 'warn'],
      ['another text without a value', finding('m'), finding('n'), 'deny'],
      ['another value', finding('m', { value: 1 }), finding('m', { value: 2 }), 'deny'],
      ['another field', finding('m'), finding('m', { path: ['spec', 'a'] }), 'deny'],
      ['another reason', finding('m'), finding('m', { reason: 'FieldValueRequired' }), 'deny'],
    ])('compares rule, field, reason and value: %s', (_, now, before, severity) => {
      expect(ratcheted(now, before)).toMatchObject([{ severity, message: now.message }]);
    });

    test.each<[string, string, string, object, string]>([
      ['another value', 'b', 'a', {}, 'deny'],
      ['the same value', 'a', 'a', {}, 'warn'],
      ['another value, when the one that counts is shown', 'b', 'a', { value: 1 }, 'warn'],
      ['a part with another value', 'b', 'a', { path: ['spec', 'clientConfig'] }, 'warn'],
    ])('compares what a finding does not show: %s', (_, now, before, more, severity) => {
      const withBundle = (caBundle: string) => inputOf(example({ clientConfig: { caBundle } }));
      const about = { path: ['spec', 'clientConfig', 'caBundle'], ...more };
      const set = setOf(invented('r', (_input, report) => report(finding('m', about))));
      const input = withBundle(now);
      expect(set.ratchet(set.check(input), input, withBundle(before))).toMatchObject([{ severity }]);
    });

    test('does not affect warnings and Cluster API’s own denials', () => {
      const say: Check = (_, report) => report(finding('m'));
      const set = setOf(
        invented('own', say),
        invented('upstream', say, { upstream: true }),
        invented('warning', say, { severity: 'warn' }),
      );
      const reports = set.check(input);
      const after = set.ratchet(reports, input, old);
      expect(after.map(({ rule, severity }) => `${rule.id} ${severity}`)).toEqual([
        'own warn',
        'upstream deny',
        'warning warn',
      ]);
      expect(after[2]).toBe(reports[2]);
    });

    test('ignores the finding of another rule', () => {
      let isOld = false;
      const set = setOf(
        invented('a', (_, report) => isOld || report(finding('m'))),
        invented('b', (_, report) => isOld && report(finding('m'))),
      );
      const reports = set.check(input);
      isOld = true;
      expect(set.ratchet(reports, input, old)).toMatchObject([{ rule: { id: 'a' }, severity: 'deny' }]);
    });
  });
});

test('a level in the file overrides the profile, and enforcement overrides both', () => {
  const levels = new Map<string, Level>([
    ['url-local-host', 'off'],
    ['url-query', 'deny'],
  ]);
  expect(found({ levels })).not.toContainEqual(expect.stringContaining('url-local-host'));
  expect(found({ levels })).toContain('deny url-query');
  expect(found({ levels, enforcement: 'warn' })).toContain('warn url-query');
  expect(found({ levels, enforcement: 'warn' })).not.toContainEqual(expect.stringContaining('url-local-host'));
});

test.each([
  ['rules: {no-rule: warn}', 'rules: there is no rule "no-rule"; "extensionconfig-webhook rules" lists them'],
  ['rules: {url-query: loud}', 'rules.url-query: "loud" is not one of off, warn, deny'],
  ['rules: {url-query: true}', 'rules.url-query: true is not one of off, warn, deny'],
  ['rules: [url-query]', 'rules: must be a map from rule id to off, warn or deny'],
  [
    'rules: {a: warn, url-query: loud, url-valid: off}',
    /^rules: .*"a".*\nrules\.url-query: .*\nrules\.url-valid: .*deny$/,
  ],
  [
    'level: {}',
    /^"level": unknown field; there are rules, a map from rule id to off, warn or deny, and impact, warn, deny or a map with replacement, unknown and controllers$/,
  ],
  ['level: {}\nrules: {a: warn}\nx: 1', /^"level": unknown field;.*\n"x": unknown field;.*\nrules: .*"a"/],
  ['level: {}\nrules: []', /^"level": unknown field;.*\nrules: must be a map/],
  ['- rules', 'must be a map with the keys rules, a map'],
  ['impact: off', 'impact: false is not one of warn, deny'],
  ['impact: {replacement: no}', 'impact.replacement: false is not one of warn, deny'],
  ['impact: {unknown: allow}', 'impact.unknown: "allow" is not one of warn, deny'],
  ['impact: {deny: true}', 'impact.deny: unknown field; there are replacement, unknown and controllers'],
  [
    'impact: {controllers: [a:b]}',
    'impact.controllers: must be a map from service account (NAMESPACE:NAME) to API group',
  ],
  [
    'impact: {controllers: {a: b}}',
    'impact.controllers: must be a map from service account (NAMESPACE:NAME) to API group',
  ],
  ['rules: {', 'line 1'],
])('an invalid levels file is an error: %j', (text, message) => {
  expect(() => parseRulesConfig(text)).toThrow(UsageError);
  expect(() => parseRulesConfig(text)).toThrow(message);
});

test('a levels file may be empty, or contain false for off', () => {
  const impact = {
    denies: false,
    deniesUnknown: true,
    controllers: { 'capi-system:capi-manager': 'cluster.x-k8s.io' },
  };
  expect(parseRulesConfig('')).toEqual({ levels: new Map(), impact });
  expect(parseRulesConfig('rules:\nimpact: deny')).toEqual({ levels: new Map(), impact: { ...impact, denies: true } });
  const controllers = { 'openshift-cluster-api:capi': 'cluster.x-k8s.io' };
  expect(
    parseRulesConfig(JSON.stringify({ impact: { replacement: 'deny', unknown: 'warn', controllers } })).impact,
  ).toEqual({ denies: true, deniesUnknown: false, controllers });
  expect(parseRulesConfig('rules: {url-query: false, url-port: warn}').levels).toEqual(
    new Map([
      ['url-query', 'off'],
      ['url-port', 'warn'],
    ]),
  );
});

describe('values that are not rendered yet', () => {
  const notRendered = inputOf(
    example({
      name: `\${NAME}`,
      clientConfig: { service: { ...exampleService, namespace: '{{ .Values.namespace }}', name: 'Extension' } },
    }),
  );
  const linesOf = (options: Partial<RuleSetOptions>) =>
    createRuleSet(ruleSetOptions(options))
      .check(notRendered)
      .map(({ rule, field }) => `${rule.id} ${field}`);

  test('are one finding, instead of what other rules say about them; other values keep theirs', () => {
    expect(linesOf({})).toEqual(['not-rendered metadata.name', 'service-name spec.clientConfig.service.name']);
  });

  test('have the findings of other rules if that rule is off', () => {
    expect(linesOf({ levels: new Map<string, Level>([['not-rendered', 'off']]) })).toEqual([
      'name-dns-label metadata.name',
      'service-namespace spec.clientConfig.service.namespace',
      'service-name spec.clientConfig.service.name',
    ]);
  });
});
