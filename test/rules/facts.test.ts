import { expect, test } from 'vitest';
import { warningText } from '../../src/admission/index.ts';
import { allowDeletionAnnotation } from '../../src/api/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleHandler,
  exampleNamespace,
  exampleService,
  exampleServiceObject,
} from '../../src/rules/examples/index.ts';
import { exampleReports, rules, type Situation } from '../../src/rules/index.ts';

const ruleOf = (id: string) => rules.find((rule) => rule.id === id)!;
const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
const server = { url: 'https://second.example.com' };

/** Objects of the cluster, what is written, and how often the rule finds something. */
const cases: [name: string, rule: string, object: JsonObject, situation: Situation, findings: number][] = [
  [
    'an upgrade plan names a handler',
    'deletion-named-by-class',
    example(),
    {
      subject: 'deletion',
      context: [
        {
          ...exampleClass('x.other'),
          spec: { upgrade: { external: { generateUpgradePlanExtension: 'plan.my-extension' } } },
        },
      ],
    },
    1,
  ],
  [
    'a class of v1beta1 names a handler',
    'deletion-named-by-class',
    example(),
    {
      subject: 'deletion',
      context: [
        {
          ...exampleClass(),
          apiVersion: 'cluster.x-k8s.io/v1beta1',
          spec: { patches: [{ name: 'p', external: { discoverVariablesExtension: 'vars.my-extension' } }] },
        },
      ],
    },
    1,
  ],
  [
    'a class that is being deleted needs nothing',
    'deletion-named-by-class',
    example(),
    {
      subject: 'deletion',
      context: [
        {
          ...exampleClass(),
          metadata: { namespace: 'clusters', name: 'quick-start', deletionTimestamp: '2026-01-01T00:00:00Z' },
        },
      ],
    },
    0,
  ],
  [
    'an inline patch names nothing',
    'deletion-named-by-class',
    example(),
    { subject: 'deletion', context: [{ ...exampleClass(), spec: { patches: [{ name: 'inline', definitions: [] }] } }] },
    0,
  ],
  [
    'Clusters in namespaces that the extension is not called for wait for others',
    'deletion-awaited-by-cluster',
    example({
      handler: { requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } },
      spec: { namespaceSelector: { matchLabels: { team: 'b' } } },
    }),
    {
      subject: 'deletion',
      context: [exampleNamespace, exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' })],
    },
    0,
  ],
  [
    'each hook that is waited for is one finding',
    'deletion-awaited-by-cluster',
    example({
      handlers: ['AfterClusterUpgrade', 'BeforeWorkersUpgrade', 'GeneratePatches'].map((hook, index) =>
        exampleHandler({ name: `h${index}.my-extension`, requestHook: { apiVersion: capi, hook } }),
      ),
    }),
    {
      subject: 'deletion',
      context: [
        exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade,BeforeWorkersUpgrade' }),
        exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'BeforeWorkersUpgrade' }, 'prod-2'),
      ],
    },
    2,
  ],
  [
    'a handler that was never offered is not dropped',
    'handler-named-by-class',
    example({ handlers: [] }),
    { subject: 'status', context: [exampleClass('generate.my-extension')], old: example({ handlers: [] }) },
    0,
  ],
  [
    'an update that leaves the selector alone excludes nothing anew',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    {
      context: [exampleClass(), exampleCluster(), exampleNamespace],
      old: example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    },
    0,
  ],
  [
    'without an old object the one in the cluster counts',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    { context: [exampleClass(), exampleCluster(), exampleNamespace, example()] },
    1,
  ],
  [
    'a namespace whose labels are not known is not excluded',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    { context: [exampleClass(), exampleCluster()], old: example() },
    0,
  ],
  [
    'the same server for namespaces that exclude each other is fine',
    'server-registered-twice',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'a' } } } }),
    {
      context: [
        example({
          name: 'other',
          spec: { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] } },
        }),
      ],
    },
    0,
  ],
  [
    'two extensions for an in-place hook, on the status write',
    'in-place-hook-twice',
    example({ handler: { requestHook: { apiVersion: capi, hook: 'UpdateMachine' } }, clientConfig: server }),
    {
      subject: 'status',
      context: [
        example({
          name: 'other',
          handlers: [exampleHandler({ name: 'u.other', requestHook: { apiVersion: capi, hook: 'UpdateMachine' } })],
        }),
      ],
    },
    1,
  ],
  [
    'a Service of another namespace says nothing about this one',
    'service-missing',
    example({ clientConfig: { service: { ...exampleService, namespace: 'elsewhere' } } }),
    { context: [exampleServiceObject] },
    0,
  ],
  [
    'a Service of type ExternalName takes every port',
    'service-port-missing',
    example({ clientConfig: { service: { ...exampleService, port: 1 } } }),
    { context: [{ ...exampleServiceObject, spec: { type: 'ExternalName', externalName: 'x.example.com' } }] },
    0,
  ],
  [
    'a UDP port is not one',
    'service-port-missing',
    example(),
    { context: [{ ...exampleServiceObject, spec: { ports: [{ port: 443, protocol: 'UDP' }, { port: 80 }] } }] },
    1,
  ],
];

test.each(cases)('%s', (_name, id, object, situation, findings) => {
  const reports = exampleReports(ruleOf(id), object, situation).filter(({ rule }) => rule.id === id);
  expect(reports.map(({ message }) => message)).toHaveLength(findings);
});

test('rules about the cluster say nothing when nothing is known', () => {
  const about = rules.filter((rule) => rule.about === 'facts');
  expect(about.length).toBeGreaterThan(10);
  for (const rule of about) {
    const { context: _, ...rest } = rule.example;
    expect(exampleReports(rule, rule.example.bad, rest).map((report) => report.rule.id)).not.toContain(rule.id);
  }
});

test('many matches are counted, and a few of them named', () => {
  const context = Array.from({ length: 5 }, (_, index) => exampleClass('x.my-extension', `class-${index}`));
  const [report] = exampleReports(ruleOf('deletion-named-by-class'), example(), { subject: 'deletion', context });
  expect(report?.message).toContain('class-2 (spec.patches[0].external.generatePatchesExtension) and 2 more');
  expect(report?.message).not.toContain('class-3');
  expect(report?.message).toContain(allowDeletionAnnotation);
});

test('every warning about the cluster fits into the 256 characters that API servers pass on', () => {
  for (const rule of rules.filter(({ about, severity }) => about === 'facts' && severity === 'warn')) {
    const lengths = exampleReports(rule, rule.example.bad).map((report) => warningText(report).length);
    expect(Math.max(...lengths), rule.id).toBeLessThan(256);
  }
});
