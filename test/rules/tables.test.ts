import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import {
  deprecatedHook,
  example,
  exampleCaBundle,
  exampleCaBundleWithKey,
  exampleExpiredCaBundle,
  exampleFutureCaBundle,
  exampleHandler,
  exampleService,
  exampleServingCertificate,
  futureHook,
  removedHook,
} from '../../src/rules/examples/index.ts';
import { exampleReports, rules } from '../../src/rules/index.ts';

const url = (text: string) => example({ clientConfig: { url: text } });
const service = (parts: JsonObject) => example({ clientConfig: { service: { ...exampleService, ...parts } } });
const bundle = (text: string) =>
  example({ annotations: {}, clientConfig: { service: exampleService, caBundle: text } });
const encode = (text: string) => Buffer.from(text).toString('base64');
const pem = Buffer.from(exampleCaBundle, 'base64').toString();
const annotated = (text: string) =>
  example({ annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': text } });
const settings = (map: JsonObject) => example({ spec: { settings: map } });
const selector = (namespaceSelector: JsonObject) => example({ spec: { namespaceSelector } });
const requirement = (operator: string, ...values: string[]) =>
  selector({
    matchLabels: { a: 'x' },
    matchExpressions: [{ key: 'a', operator, ...(values.length > 0 ? { values } : {}) }],
  });

const decode = (text: string) => Buffer.from(text, 'base64').toString();
const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
const handlers = (...parts: JsonObject[]) => example({ handlers: parts.map(exampleHandler) });
const hook = (apiVersion: string, name: string) => handlers({ requestHook: { apiVersion, hook: name } });
const many = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `h${i}.my-extension` }));

/** For each rule: objects without a finding of it, and objects with one. */
const cases: Record<string, { valid: JsonObject[]; invalid: JsonObject[] }> = {
  'api-version-unknown': {
    valid: [example(), example({ apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' })],
    invalid: ['runtime.cluster.x-k8s.io/v1beta1', 'runtime.cluster.x-k8s.io/', ''].map((apiVersion) =>
      example({ apiVersion }),
    ),
  },
  'name-dns-label': {
    valid: ['0', 'a'.repeat(63)].map((name) => example({ name })),
    invalid: ['', 'A', 'ä', '-a', 'a'.repeat(64)].map((name) => example({ name })),
  },
  'client-config-target': {
    valid: [url('x')],
    invalid: [example({ clientConfig: {} }), example({ clientConfig: { service: {} } }), url('')],
  },
  'url-valid': {
    valid: ['HTTPS://h', 'https://'].map(url),
    invalid: ['ftp://h', '/h', 'https://%zz', ' https://h', 'https://[::1'].map(url),
  },
  'url-host': {
    valid: ['https://h', 'https://[::1]'].map(url),
    invalid: ['https://', 'https:///x', 'https://:443', 'https:h'].map(url),
  },
  'url-port': {
    valid: ['https://h:', 'https://h:1', 'https://[::1]:65535'].map(url),
    invalid: ['https://h:0', 'https://h:65536', 'https://[::1]:99999'].map(url),
  },
  'url-query': {
    valid: ['https://h/%3F', 'https://h/#?'].map(url),
    invalid: ['https://h?', 'https://h/?a#b'].map(url),
  },
  'url-fragment': { valid: [url('https://h/%23')], invalid: ['https://h/#', 'https://h/?a#b'].map(url) },
  'url-user-info': { valid: [url('https://h/a@b')], invalid: ['https://@h', 'https://u@h', 'https://u:p@h'].map(url) },
  'url-local-host': {
    valid: ['https://localhost.example.com', 'https://[2001:db8::1]'].map(url),
    invalid: [
      'https://LOCALHOST.',
      'https://a.localhost',
      'https://127.1.2.3',
      'https://[::1]:1',
      'https://[fe80::1%25eth0]',
      'https://169.254.169.254',
    ].map(url),
  },
  'url-cluster-host': {
    valid: [url('https://svc.example.com')],
    invalid: ['https://svc', 'https://a.b.svc', 'https://A.B.SVC.cluster.local.:443'].map(url),
  },
  'service-name': {
    valid: [service({ name: 'a0' })],
    invalid: ['', '0a', 'a.b', 'a'.repeat(64)].map((name) => service({ name })),
  },
  'service-namespace': {
    valid: [service({ namespace: '0' })],
    invalid: ['', 'A', 'a.b'].map((namespace) => service({ namespace })),
  },
  'service-path': {
    valid: ['/', '/%41'].map((path) => service({ path })),
    invalid: ['x', '/%', '/\n'].map((path) => service({ path })),
  },
  'service-path-plain': {
    valid: [service({ path: '/%3f' })],
    invalid: ['/?', '/#', '/a?b#c'].map((path) => service({ path })),
  },
  'service-port': {
    valid: [1, 65535].map((port) => service({ port })),
    invalid: [0, -1, 65536].map((port) => service({ port })),
  },
  'field-type': {
    valid: [service({ path: null })],
    invalid: [
      service({ port: '1' }),
      example({ spec: { settings: { a: 1 } } }),
      example({ clientConfig: { url: ['x'] } }),
    ],
  },
  'ca-bundle-pem': {
    valid: [bundle('Cg=='), bundle(encode(pem.replaceAll('\n', '\r\n'))), bundle(encode(pem + pem))],
    invalid: [
      bundle('!!'),
      bundle(encode('x')),
      bundle(encode('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')),
    ],
  },
  'ca-bundle-private-key': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleCaBundleWithKey), bundle(encode(`${pem}-----BEGIN EC PRIVATE KEY-----\n`))],
  },
  'ca-missing': { valid: [annotated('a/b')], invalid: [bundle('Cg=='), annotated('')] },
  'inject-annotation': {
    valid: [annotated('a/b.c')],
    invalid: ['', '/', 'a/', '/b', 'a/b/c', 'A/b', ' a/b'].map(annotated),
  },
  'settings-credentials': {
    valid: [settings({ tokenBucketSize: '5', secretName: 'x', password: '' })],
    invalid: [settings({ DB_PASSWORD: 'x' }), settings({ 'api-key': 'x' }), settings({ x: 'https://u:p@h' })],
  },
  'namespace-selector': {
    valid: [selector({}), requirement('Exists')],
    invalid: [
      requirement('in', 'x'),
      requirement('In'),
      requirement('Exists', 'x'),
      selector({ matchLabels: { '-': 'x' } }),
    ],
  },
  'namespace-selector-contradiction': {
    valid: [requirement('In', 'x', 'y'), requirement('NotIn', 'y')],
    invalid: [requirement('NotIn', 'x'), requirement('DoesNotExist'), requirement('In', 'y')],
  },
  'handler-timeout': {
    valid: [1, 10, null].map((timeoutSeconds) => example({ handler: { timeoutSeconds } })),
    invalid: [0, -1, 11].map((timeoutSeconds) => example({ handler: { timeoutSeconds } })),
  },
  'handler-failure-policy': {
    valid: [example({ handler: { failurePolicy: 'Ignore' } })],
    invalid: ['', 'fail'].map((failurePolicy) => example({ handler: { failurePolicy } })),
  },
  'handler-name': {
    valid: [example({ handlers: [exampleHandler({ name: '0.my-extension' })] })],
    invalid: ['', '.my-extension', 'A.my-extension', 'a.b.my-extension', 'a.other'].map((name) =>
      example({ handler: { name } }),
    ),
  },
  'handler-name-unique': {
    valid: [handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' })],
    invalid: [handlers({}, { name: 'b.my-extension' }, {}), handlers({ name: '' }, { name: '' })],
  },
  'handler-hook-version': {
    valid: [hook('hooks.example.com/v1', removedHook), handlers({ requestHook: {} })],
    invalid: ['', 'v1', '/v1', 'a/', 'a/b/c'].map((apiVersion) => hook(apiVersion, 'Discovery')),
  },
  'handler-hook-singleton': {
    valid: [
      handlers({ name: 'a.my-extension' }, { name: 'b.my-extension' }),
      handlers({ requestHook: { apiVersion: capi, hook: 'Discovery' } }),
    ],
    invalid: [
      handlers(
        { name: 'a.my-extension', requestHook: { apiVersion: capi, hook: 'Discovery' } },
        { name: 'b.my-extension', requestHook: { apiVersion: capi, hook: 'Discovery' } },
      ),
    ],
  },
  'hook-version-removed': {
    valid: [hook('hooks.example.com/v1beta1', removedHook), hook(capi, 'GeneratePatches')],
    invalid: [hook('hooks.example.com/v1alpha1', removedHook)],
  },
  'hook-version-deprecated': {
    valid: [hook('hooks.example.com/v1', deprecatedHook), hook('hooks.example.com/v1alpha1', removedHook)],
    invalid: [hook('hooks.example.com/v1beta1', deprecatedHook)],
  },
  'hook-unknown': {
    valid: [hook(capi, 'CanUpdateMachineSet'), hook('not-a-version', 'X')],
    invalid: [
      hook(capi, 'generatePatches'),
      hook('hook.runtime.cluster.x-k8s.io/v1alpha1', 'GeneratePatches'),
      hook('hooks.runtime.cluster.x-k8s.io/v1', 'GeneratePatches'),
      hook(capi, '__proto__'),
    ],
  },
  'hook-too-new': {
    valid: [hook(capi, 'GenerateUpgradePlan')],
    invalid: [hook('hooks.example.com/v1', futureHook)],
  },
  'failure-policy-blocking': {
    valid: [
      handlers({ failurePolicy: 'Fail' }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'AfterControlPlaneInitialized' } }),
    ],
    invalid: [
      handlers({ failurePolicy: 'Ignore' }),
      handlers({ failurePolicy: 'Ignore', requestHook: { apiVersion: capi, hook: 'AfterClusterUpgrade' } }),
    ],
  },
  'api-version-deprecated': {
    valid: [example()],
    invalid: [example({ apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' })],
  },
  'ca-bundle-and-annotation': {
    valid: [bundle(exampleCaBundle), example(), service({})],
    invalid: [example({ clientConfig: { service: exampleService, caBundle: exampleCaBundle } })],
  },
  'ca-certificate-expired': {
    valid: [bundle(exampleCaBundle), bundle('Cg==')],
    invalid: [bundle(exampleExpiredCaBundle), bundle(encode(pem + decode(exampleExpiredCaBundle)))],
  },
  'ca-certificate-not-yet-valid': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleFutureCaBundle), bundle(encode(pem + decode(exampleFutureCaBundle)))],
  },
  'ca-certificate-expiring': {
    valid: [bundle(exampleCaBundle), bundle(exampleFutureCaBundle)],
    invalid: [bundle(exampleExpiredCaBundle)],
  },
  'ca-certificate-not-ca': {
    valid: [bundle(exampleCaBundle)],
    invalid: [bundle(exampleServingCertificate), bundle(encode(pem + decode(exampleServingCertificate)))],
  },
  'schema-limits': {
    valid: [url(`https://h/${'a'.repeat(502)}`), handlers(...many(512))],
    invalid: [
      url(`https://h/${'a'.repeat(503)}`),
      handlers(...many(513)),
      service({ path: `/${'a'.repeat(512)}` }),
      bundle(`${exampleCaBundle}${'A'.repeat(51_200)}`),
      hook(capi, 'A'.repeat(257)),
      example({ handler: { requestHook: { hook: 'Discovery' } } }),
      example({ spec: { settings: null } }),
    ],
  },
  'unknown-field': {
    valid: [settings({ anything: 'x' })],
    invalid: [
      example({ spec: { extra: 1 } }),
      service({ targetPort: 1 }),
      handlers({ timeout: 1 }),
      example({ spec: JSON.parse('{"__proto__": {"a": 1}}') }),
    ],
  },
};

test.each(Object.entries(cases))('%s', (id, { valid, invalid }) => {
  const rule = rules.find((candidate) => candidate.id === id)!;
  const has = (object: JsonObject) => exampleReports(rule, object).some((report) => report.rule.id === id);
  expect(valid.filter(has)).toEqual([]);
  expect(invalid.filter((object) => !has(object))).toEqual([]);
});

test('no message names what is not there', () => {
  const objects = Object.values(cases).flatMap(({ valid, invalid }) => [...valid, ...invalid]);
  const messages = rules.flatMap((rule) => objects.flatMap((object) => exampleReports(rule, object)));
  expect(messages.map(({ message }) => message).filter((message) => /undefined|\[object|NaN/.test(message))).toEqual(
    [],
  );
});

test('every rule has its table', () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ id }) => id).sort());
});
