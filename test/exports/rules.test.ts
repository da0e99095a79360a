import { expect, test } from 'vitest';
import { checkExtensionConfig, ruleDescriptions } from '../../src/exports/rules.ts';
import { rules } from '../../src/policy/index.ts';

const good = {
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'hooks', annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'hooks/ca' } },
  spec: { clientConfig: { service: { name: 'hooks', namespace: 'hooks' } } },
};
const bad = { ...good, spec: { clientConfig: { url: 'http://user:password@example.com' } } };

function idsOf(...args: Parameters<typeof checkExtensionConfig>): string[] {
  return checkExtensionConfig(...args).map(({ rule }) => rule);
}

function fieldsOf(object: object): string[] {
  return checkExtensionConfig(object).map(({ field }) => field);
}

test('a valid object has no findings, and is not modified', () => {
  const before = structuredClone(good);
  expect(checkExtensionConfig(good)).toEqual([]);
  expect(good).toEqual(before);
});

test('an object may be modified and checked again', () => {
  const matchExpressions: object[] = [{ operator: 'Exists' }, { key: 'a' }];
  const object = {
    ...good,
    metadata: { ...good.metadata, annotations: { ...good.metadata.annotations, large: 'x'.repeat(300 * 1024) } },
    spec: { ...good.spec, namespaceSelector: { matchExpressions } },
  };
  expect(fieldsOf(object)).toEqual([
    'metadata.annotations',
    // Annotations over their limit are not read.
    'spec.clientConfig.caBundle',
    'spec.namespaceSelector',
    'spec.namespaceSelector.matchExpressions[0].key',
    'spec.namespaceSelector.matchExpressions[1].operator',
  ]);
  object.metadata.annotations.large = '';
  matchExpressions.shift();
  matchExpressions.push({ key: 'b', operator: 'Exists' });
  expect(fieldsOf(object)).toEqual(['spec.namespaceSelector', 'spec.namespaceSelector.matchExpressions[0].operator']);
  expect(checkExtensionConfig(object)).toEqual(checkExtensionConfig(structuredClone(object)));
});

test('findings have rule, severity and field, and contain no secret', () => {
  const problems = checkExtensionConfig(bad);
  expect(problems).toContainEqual({
    rule: 'url-valid',
    severity: 'deny',
    field: 'spec.clientConfig.url',
    message: expect.stringContaining('spec.clientConfig.url'),
  });
  expect(JSON.stringify(problems)).not.toContain('password');
});

test('accepts options: profile, levels, release, time', () => {
  expect(idsOf(bad, { profile: 'upstream' })).toEqual(['url-valid']);
  const withUser = { ...good, spec: { clientConfig: { url: 'https://user@example.com' } } };
  expect(idsOf(withUser)).toContain('url-user-info');
  expect(idsOf(withUser, { levels: { 'url-user-info': 'off' } })).not.toContain('url-user-info');
  const old = { ...good, apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' };
  expect(idsOf(old)).toContain('api-version-deprecated');
});

test.each([
  [null],
  ['ExtensionConfig'],
  [{ ...good, kind: 'Cluster' }],
  [{ ...good, apiVersion: 'runtime.cluster.x-k8s.io/v9' }],
])('%j is not an ExtensionConfig', (object) => {
  expect(() => checkExtensionConfig(object)).toThrow(TypeError);
});

test.each([
  [{ clusterApiVersion: 'soon' }, /soon/],
  [{ clusterApiVersion: 'v9.9' }, /"v9\.9": known are the releases v1\.2 to v1\.\d+/],
  [{ maxHandlerTimeoutSeconds: 0 }, /maxHandlerTimeoutSeconds: 0/],
  [{ levels: { 'no-such-rule': 'off' } }, /no-such-rule/],
  [{ levels: { 'ca-missing': 'error' as 'deny' } }, /^rules.ca-missing: "error" is not one of off, warn, deny$/],
  [{ profile: 'lax' as 'strict' }, /^profile: "lax" is not strict or upstream$/],
  [{ now: new Date('soon') }, /^now is not a valid Date$/],
  [{ now: '2026-01-01' as unknown as Date }, /^now is not a valid Date$/],
  [{ levels: { 'url-valid': 'off' } }, /url-valid/],
] as const)('rejects the option %j', (options, message) => {
  expect(() => checkExtensionConfig(good, options)).toThrow(message);
});

test('every rule has a description', () => {
  expect(ruleDescriptions.map(({ id }) => id)).toEqual(rules.map(({ id }) => id));
});
