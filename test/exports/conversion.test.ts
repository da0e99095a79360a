import { expect, test } from 'vitest';
import { convertExtensionConfig, extensionConfigVersions } from '../../src/exports/conversion.ts';

const old = {
  apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1',
  kind: 'ExtensionConfig',
  metadata: { name: 'a' },
  spec: { clientConfig: { url: 'https://h' } },
  status: { handlers: [{ name: 'h.a', requestHook: { apiVersion: 'g/v1', hook: 'H' }, timeoutSeconds: 0 }] },
};

test('a round trip loses nothing and does not modify the input', () => {
  const before = structuredClone(old);
  const newer = convertExtensionConfig(old, 'v1beta2');
  expect(newer.apiVersion).toBe('runtime.cluster.x-k8s.io/v1beta2');
  expect(convertExtensionConfig(newer, 'v1alpha1')).toEqual(before);
  expect(old).toEqual(before);
  expect(extensionConfigVersions).toEqual(['v1alpha1', 'v1beta2']);
});

test.each([
  ['another kind', { ...old, kind: 'Pod' }, 'v1beta2', TypeError],
  ['another version of the object', { ...old, apiVersion: 'runtime.cluster.x-k8s.io/v9' }, 'v1beta2', TypeError],
  ['no object', null, 'v1beta2', TypeError],
  ['an unknown version', old, 'v9', RangeError],
])('rejects %s', (_, object, version, kind) => {
  expect(() => convertExtensionConfig(object, version as 'v1beta2')).toThrow(kind);
});
