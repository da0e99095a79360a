import { expect, test } from 'vitest';
import { decodeExtensionConfig, maxViolations } from '../../src/api/index.ts';

const object = (spec: unknown, more: Record<string, unknown> = {}) => ({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'x' },
  spec,
  ...more,
});

test('an object that fits is returned as it is', () => {
  const good = object({ clientConfig: { url: 'https://h' } });
  const decoded = decodeExtensionConfig(good, 'v1beta2');
  expect(decoded.object).toBe(good);
  expect(decoded.violations).toEqual([]);
});

test('what has a wrong type is absent or empty, and the input stays as it was', () => {
  const bad = object(
    { clientConfig: { url: 5, service: { name: null, port: '1', namespace: 'n' } }, settings: { a: 1, b: 'c' } },
    { status: { handlers: [7, { name: 'h', requestHook: 'x' }] } },
  );
  const before = structuredClone(bad);
  const { object: decoded, violations } = decodeExtensionConfig(bad, 'v1beta2');
  expect(decoded).toEqual(
    object(
      { clientConfig: { service: { namespace: 'n' } }, settings: { b: 'c' } },
      { status: { handlers: [{}, { name: 'h' }] } },
    ),
  );
  expect(bad).toEqual(before);
  expect(violations.filter(({ problem }) => problem === 'type').map(({ path }) => path.join('.'))).toEqual([
    'spec.clientConfig.url',
    'spec.clientConfig.service.name',
    'spec.clientConfig.service.port',
    'spec.settings.a',
    'status.handlers.0',
    'status.handlers.1.requestHook',
  ]);
});

test.each([[undefined], [null], ['x'], [[]]])('metadata %j becomes an object', (metadata) => {
  expect(decodeExtensionConfig(object({}, { metadata }), 'v1beta2').object.metadata).toEqual({});
});

test.each([
  ['required', object({}), 'spec.clientConfig'],
  ['tooLong', object({ clientConfig: { url: `https://${'h'.repeat(512)}` } }), 'spec.clientConfig.url'],
  ['invalid', object({ clientConfig: { url: '' } }), 'spec.clientConfig.url'],
  [
    'invalid',
    object({ clientConfig: { url: 'h', service: { name: 'a', namespace: 'b', port: 2 ** 31 } } }),
    'spec.clientConfig.service.port',
  ],
  [
    'notSupported',
    object(
      { clientConfig: { url: 'h' } },
      { status: { handlers: [{ name: 'h', requestHook: { apiVersion: 'a', hook: 'b' }, failurePolicy: 'X' }] } },
    ),
    'status.handlers.0.failurePolicy',
  ],
])('%s: %j', (problem, bad, path) => {
  const { violations } = decodeExtensionConfig(bad, 'v1beta2');
  expect(violations.map((violation) => [violation.problem, violation.path.join('.')])).toEqual([[problem, path]]);
});

test('lengths are counted in characters, as the API server counts them', () => {
  const url = (length: number) => object({ clientConfig: { url: '\u{1F600}'.repeat(length) } });
  expect(decodeExtensionConfig(url(512), 'v1beta2').violations).toEqual([]);
  expect(decodeExtensionConfig(url(513), 'v1beta2').violations).toHaveLength(1);
});

test('the versions differ', () => {
  const early = object(
    { clientConfig: { url: 'h' } },
    { status: { handlers: [{ name: 'h', requestHook: { apiVersion: 'a', hook: 'b' }, timeoutSeconds: 0 }] } },
  );
  expect(decodeExtensionConfig(early, 'v1alpha1').violations).toEqual([]);
  expect(decodeExtensionConfig(early, 'v1beta2').violations).toMatchObject([{ message: 'must be at least 1' }]);
});

test('the number of violations is bounded, and so is the work on a huge object', () => {
  const expressions = (count: number) =>
    object({
      clientConfig: { url: 'h' },
      namespaceSelector: { matchExpressions: Array.from({ length: count }, () => 0) },
    });
  expect(decodeExtensionConfig(expressions(1000), 'v1beta2').violations).toHaveLength(maxViolations);
  const huge = decodeExtensionConfig(expressions(100_000), 'v1beta2');
  expect(huge.violations[0]).toMatchObject({ path: [], problem: 'type' });
  expect(huge.object).toEqual({
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: {},
  });
});
