import { expect, test } from 'vitest';
import { withAllDefaults, withDefaults } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

const good: JsonObject = {
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'one' },
  spec: { clientConfig: { service: { namespace: 'a', name: 'b', port: 443 } }, namespaceSelector: {} },
};

test('sets the values in the patch', () => {
  const object: JsonObject = {
    ...good,
    spec: { clientConfig: { service: { namespace: 'a', name: 'b' } } },
    status: { handlers: [{ name: 'a' }, { name: 'b', failurePolicy: 'Ignore' }] },
  };
  expect(withDefaults(object, 'object').spec).toEqual({
    clientConfig: { service: { namespace: 'a', name: 'b', port: 443 } },
    namespaceSelector: {},
  });
  const complete = withDefaults(object, 'status');
  expect(complete.status).toEqual({
    handlers: [
      { name: 'a', timeoutSeconds: 10, failurePolicy: 'Fail' },
      { name: 'b', timeoutSeconds: 10, failurePolicy: 'Ignore' },
    ],
  });
  expect(complete.spec).toEqual(object.spec);
  expect(withDefaults(good, 'object')).toBe(good);
});

test('does not modify its input', () => {
  const object = { ...good, spec: { clientConfig: { service: { namespace: 'a', name: 'b' } } } };
  const before = JSON.stringify(object);
  expect(withDefaults(object, 'object')).not.toEqual(object);
  expect(JSON.stringify(object)).toBe(before);
});

test('the object and its status together', () => {
  const object = { ...good, spec: {}, status: { handlers: [{ name: 'a' }] } };
  expect(withAllDefaults(object)).toEqual({
    ...good,
    spec: { namespaceSelector: {} },
    status: { handlers: [{ name: 'a', timeoutSeconds: 10, failurePolicy: 'Fail' }] },
  });
});

/** As apiextensions-apiserver 0.36.4 stores them. */
test.each<[string, JsonObject, JsonObject]>([
  ['a target', { clientConfig: { url: 'https://a/', service: null } }, { clientConfig: { url: 'https://a/' } }],
  ['settings', { settings: null }, {}],
  ['a setting', { settings: { a: null, b: 'x' } }, { settings: { b: 'x' } }],
  ['labels of a selector', { namespaceSelector: { matchLabels: null } }, { namespaceSelector: {} }],
  ['an unknown field, which is a finding', { unknown: null }, { unknown: null }],
  ['an item', { namespaceSelector: { matchExpressions: [null] } }, { namespaceSelector: { matchExpressions: [null] } }],
])('nulls are absent: %s', (_what, spec, stored) => {
  const object = { ...good, metadata: { name: 'a', labels: null }, spec };
  const before = JSON.stringify(object);
  expect(withAllDefaults(object)).toEqual({
    ...good,
    metadata: { name: 'a' },
    spec: { namespaceSelector: {}, ...stored },
  });
  expect(JSON.stringify(object)).toBe(before);
});
