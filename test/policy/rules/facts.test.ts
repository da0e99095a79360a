import { expect, test } from 'vitest';
import { allowDeletionAnnotation, decodeExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { parsedInput, rules, warningText } from '../../../src/policy/index.ts';
import { now, ruleSetOptions } from '../admission/policy.ts';
import { exampleOf, exampleReports, type Situation } from './example-reports.ts';
import {
  example,
  exampleClass,
  exampleCluster,
  exampleHandler,
  exampleNamespace,
  exampleService,
  exampleServiceObject,
} from './examples.ts';
import { factsOf, linesOf, linesWith } from './lines.ts';

const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
const server = { url: 'https://second.example.com' };

const allow = `allow it with kubectl annotate extensionconfig my-extension ${allowDeletionAnnotation}=true`;
const namedBy = (classes: string) =>
  `metadata.name Forbidden -: cannot be deleted, because its handlers are named by ${classes}: their Clusters would stop reconciling; remove them there first, or ${allow}`;
const awaited = (hook: string, clusters: string) =>
  `metadata.name Forbidden "${hook}": cannot be deleted, because its hook ${hook} is still pending for ${clusters}; wait until their annotation runtime.cluster.x-k8s.io/pending-hooks is gone, or ${allow}`;
const excludes = (namespaces: string, classes: string) =>
  `spec.namespaceSelector Invalid -: now excludes ${namespaces}, which have Clusters of a ClusterClass that names the extension (${classes}): those Clusters fail; select these namespaces too`;

/** The object being written, the objects of the cluster, and the findings of the rule. */
const cases: [name: string, rule: string, object: JsonObject, situation: Situation, findings: string[]][] = [
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
    [namedBy('ClusterClass clusters/quick-start (spec.upgrade.external.generateUpgradePlanExtension)')],
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
    [namedBy('ClusterClass clusters/quick-start (spec.patches[0].external.discoverVariablesExtension)')],
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
    [],
  ],
  [
    'an inline patch names nothing',
    'deletion-named-by-class',
    example(),
    { subject: 'deletion', context: [{ ...exampleClass(), spec: { patches: [{ name: 'inline', definitions: [] }] } }] },
    [],
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
    [],
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
    [
      awaited('AfterClusterUpgrade', 'Cluster clusters/prod-1'),
      awaited('BeforeWorkersUpgrade', 'Cluster clusters/prod-1, Cluster clusters/prod-2'),
    ],
  ],
  [
    'a handler without a complete requestHook serves no hook that is waited for',
    'deletion-awaited-by-cluster',
    example({
      handlers: [
        { name: 'a.my-extension' },
        exampleHandler({ name: 'b.my-extension', requestHook: { apiVersion: 'v1', hook: 'AfterClusterUpgrade' } }),
        exampleHandler({ name: 'c.my-extension', requestHook: { apiVersion: capi, hook: 'BeforeWorkersUpgrade' } }),
      ],
    }),
    {
      subject: 'deletion',
      context: [
        exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade,BeforeWorkersUpgrade' }),
      ],
    },
    [awaited('BeforeWorkersUpgrade', 'Cluster clusters/prod-1')],
  ],
  [
    'a Cluster that is being deleted waits for no hook: none of these is called any more',
    'deletion-awaited-by-cluster',
    example({ handler: { requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } } }),
    {
      subject: 'deletion',
      context: [
        {
          ...exampleCluster(),
          metadata: {
            namespace: 'clusters',
            name: 'prod-1',
            deletionTimestamp: '2026-01-01T00:00:00Z',
            annotations: { 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' },
          },
        },
      ],
    },
    [],
  ],
  [
    'a name without a dot is of no extension',
    'deletion-named-by-class',
    example(),
    { subject: 'deletion', context: [exampleClass('my-extension')] },
    [],
  ],
  [
    'two handlers of one extension for an in-place hook need no facts',
    'handler-hook-in-place',
    example({
      handlers: ['a', 'b', 'c'].map((name) =>
        exampleHandler({
          name: `${name}.my-extension`,
          requestHook: { apiVersion: capi, hook: 'CanUpdateMachineSet' },
        }),
      ),
    }),
    { subject: 'status' },
    [1, 2].map(
      (index) =>
        `status.handlers[${index}].requestHook.hook Duplicate "CanUpdateMachineSet": handler "a.my-extension" already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them`,
    ),
  ],
  [
    'one handler for each in-place hook is as it should be, and providers have hooks of their own',
    'handler-hook-in-place',
    example({
      handlers: ['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine', 'GeneratePatches', 'GeneratePatches']
        .map((hook) => ({ apiVersion: capi, hook }))
        .concat({ apiVersion: 'hooks.example.com/v1', hook: 'UpdateMachine' })
        .map((requestHook, index) => exampleHandler({ name: `h${index}.my-extension`, requestHook })),
    }),
    { subject: 'status' },
    [],
  ],
  [
    'a namespace that can be none is another rule’s, and part of no command',
    'service-missing',
    example({ clientConfig: { service: { ...exampleService, namespace: 'x; rm -rf ~' } } }),
    { context: [{ ...exampleServiceObject, metadata: { namespace: 'x; rm -rf ~', name: 'other' } }] },
    [],
  ],
  [
    'nor is it when the Service is there',
    'service-port-missing',
    example({ clientConfig: { service: { ...exampleService, namespace: 'x; rm -rf ~' } } }),
    {
      context: [
        {
          ...exampleServiceObject,
          metadata: { namespace: 'x; rm -rf ~', name: 'my-extension' },
          spec: { ports: [{ port: 1 }] },
        },
      ],
    },
    [],
  ],
  [
    'nor is a name that can be none',
    'service-port-missing',
    example({ clientConfig: { service: { ...exampleService, name: 'a b' } } }),
    {
      context: [
        {
          ...exampleServiceObject,
          metadata: { namespace: 'capi-extensions', name: 'a b' },
          spec: { ports: [{ port: 1 }] },
        },
      ],
    },
    [],
  ],
  [
    'a handler that was never offered is not dropped',
    'handler-named-by-class',
    example({ handlers: [] }),
    { subject: 'status', context: [exampleClass('generate.my-extension')], old: example({ handlers: [] }) },
    [],
  ],
  [
    'an update of an object without a status removes no handler',
    'handler-named-by-class',
    example({ handlers: [] }),
    { subject: 'status', context: [exampleClass('generate.my-extension')], old: example() },
    [],
  ],
  [
    'an update of an empty status removes no handler',
    'handler-named-by-class',
    example({ handlers: [] }),
    { subject: 'status', context: [exampleClass('generate.my-extension')], old: { ...example(), status: {} } },
    [],
  ],
  [
    'an update that leaves the selector alone excludes nothing anew',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    {
      context: [exampleClass(), exampleCluster(), exampleNamespace],
      old: example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    },
    [],
  ],
  [
    'without an old object the one in the cluster counts',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    { context: [exampleClass(), exampleCluster(), exampleNamespace, example()] },
    [excludes('clusters', 'clusters/quick-start')],
  ],
  [
    'an extension that the cluster does not have excludes nothing that it selected',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    { context: [exampleClass(), exampleCluster(), exampleNamespace, example({ name: 'other' })] },
    [],
  ],
  [
    'a namespace whose labels are not known is not excluded',
    'namespace-selector-excludes',
    example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    { context: [exampleClass(), exampleCluster()], old: example() },
    [],
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
    [],
  ],
  [
    'objects without a server have none in common',
    'server-registered-twice',
    example({ clientConfig: {} }),
    { context: [example({ name: 'other', clientConfig: {} })] },
    [],
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
    [
      'status.handlers[0].requestHook.hook Duplicate "UpdateMachine": is served by other too, and Cluster API fails every in-place update when there are two; keep one of them',
    ],
  ],
  [
    'a Service of another namespace says nothing about this one',
    'service-missing',
    example({ clientConfig: { service: { ...exampleService, namespace: 'elsewhere' } } }),
    { context: [exampleServiceObject] },
    [],
  ],
  [
    'a Service of type ExternalName takes every port',
    'service-port-missing',
    example({ clientConfig: { service: { ...exampleService, port: 1 } } }),
    { context: [{ ...exampleServiceObject, spec: { type: 'ExternalName', externalName: 'x.example.com' } }] },
    [],
  ],
  [
    'a UDP port is not one',
    'service-port-missing',
    example(),
    { context: [{ ...exampleServiceObject, spec: { ports: [{ port: 443, protocol: 'UDP' }, { port: 80 }] } }] },
    [
      'spec.clientConfig.service.port NotFound 443: the Service has no such TCP port, only 80: look with kubectl -n capi-extensions get service my-extension',
    ],
  ],
];

test.each(cases)('%s', (_name, id, object, situation, findings) => {
  expect(linesOf(id, object, situation)).toEqual(findings);
});

test('rules about the cluster report nothing if nothing is known', () => {
  const about = rules.filter((rule) => rule.needs === 'facts');
  expect(about.length).toBeGreaterThan(10);
  for (const rule of about) {
    const { context: _, good: _good, bad, ...rest } = exampleOf(rule.id);
    expect(exampleReports(rule.id, bad, rest).map((report) => report.rule.id)).not.toContain(rule.id);
    const { old, checkedAt } = rest;
    const at = checkedAt === undefined ? now : new Date(checkedAt);
    const oldObject = old && decodeExtensionConfig(old, 'v1beta2').object;
    const situation = { oldObject, now: at, subject: rest.subject ?? 'object' };
    expect(linesWith(rule.id, bad, { ...situation, facts: factsOf({}) })).toEqual([]);
    // No rule relies on others to check whether something is known.
    const input = { ...decodeExtensionConfig(bad, 'v1beta2'), ...situation, isPruned: true };
    const report = () => {
      throw new Error(`${rule.id} says something`);
    };
    const whole = parsedInput({ ...input, writtenAs: 'v1beta2', version: 'v1beta2' }, ruleSetOptions());
    rule.check(whole, report, ruleSetOptions());
  }
});

test('many matches are counted, and a few of them named', () => {
  const context = Array.from({ length: 5 }, (_, index) => exampleClass('x.my-extension', `class-${index}`));
  const [report] = exampleReports('deletion-named-by-class', example(), { subject: 'deletion', context });
  expect(report?.message).toContain('class-2 (spec.patches[0].external.generatePatchesExtension) and 2 more');
  expect(report?.message).not.toContain('class-3');
  expect(report?.message).toContain(allowDeletionAnnotation);
});

test('every warning about the cluster fits into the 256 characters that API servers pass on', () => {
  for (const rule of rules.filter(({ needs, severity }) => needs === 'facts' && severity === 'warn')) {
    const lengths = exampleReports(rule.id, exampleOf(rule.id).bad).map((report) => warningText(report).length);
    expect(Math.max(...lengths), rule.id).toBeLessThan(256);
  }
});
