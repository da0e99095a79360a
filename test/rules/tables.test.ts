import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { example, exampleHandler, exampleService } from '../../src/rules/example.ts';
import { exampleCaBundle, exampleCaBundleWithKey } from '../../src/rules/example-certificates.ts';
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

/** For each rule: objects without a finding of it, and objects with one. */
const cases: Record<string, { valid: JsonObject[]; invalid: JsonObject[] }> = {
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
    invalid: ['https://a.b.svc', 'https://A.B.SVC.cluster.local.:443'].map(url),
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
};

test.each(Object.entries(cases))('%s', (id, { valid, invalid }) => {
  const rule = rules.find((candidate) => candidate.id === id)!;
  const has = (object: JsonObject) => exampleReports(rule, object).some((report) => report.rule.id === id);
  expect(valid.filter(has)).toEqual([]);
  expect(invalid.filter((object) => !has(object))).toEqual([]);
});
