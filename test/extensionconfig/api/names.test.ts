import { expect, test } from 'vitest';
import {
  apiVersionOf,
  crd,
  isExtensionConfig,
  isVersion,
  openApiSchemaOf,
  versionOf,
  versions,
} from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

test('the versions are those that the CustomResourceDefinition serves, with their apiVersions', () => {
  expect(crd.spec.versions.filter(({ served }) => served).map(({ name }) => name)).toEqual([...versions]);
  expect(versions.map(apiVersionOf)).toEqual(['runtime.cluster.x-k8s.io/v1alpha1', 'runtime.cluster.x-k8s.io/v1beta2']);
});

test.each([
  ['runtime.cluster.x-k8s.io/v1beta2', 'v1beta2'],
  ['runtime.cluster.x-k8s.io/v1alpha1', 'v1alpha1'],
  ['runtime.cluster.x-k8s.io/v1beta1', undefined],
  ['runtime.cluster.x-k8s.io', undefined],
  ['v1beta2', undefined],
  ['', undefined],
  [undefined, undefined],
  [7, undefined],
])('the version in %j is %j', (apiVersion, version) => {
  expect(versionOf(apiVersion)).toBe(version);
});

test.each<[JsonObject, boolean]>([
  [{ apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig' }, true],
  // Another rule reports that the version is unknown or missing.
  [{ apiVersion: 'runtime.cluster.x-k8s.io/v9', kind: 'ExtensionConfig' }, true],
  [{ apiVersion: 'v1beta2', kind: 'ExtensionConfig' }, true],
  [{ apiVersion: '', kind: 'ExtensionConfig' }, true],
  [{ apiVersion: 7, kind: 'ExtensionConfig' }, true],
  [{ kind: 'ExtensionConfig' }, true],
  [{ apiVersion: 'runtime.cluster.x-k8s.io.example.com/v1', kind: 'ExtensionConfig' }, false],
  [{ apiVersion: 'example.com/runtime.cluster.x-k8s.io/', kind: 'ExtensionConfig' }, false],
  [{ apiVersion: '/v1beta2', kind: 'ExtensionConfig' }, false],
  [{ apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'extensionconfig' }, false],
  [{ apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' }, false],
  [{ apiVersion: 'v1', kind: 'Pod' }, false],
])('whether %j is an ExtensionConfig: %j', (object, isOne) => {
  expect(isExtensionConfig(object)).toBe(isOne);
});

test('every known version has a schema', () => {
  for (const version of versions) {
    expect(isVersion(version)).toBe(true);
    expect(openApiSchemaOf(version)).toBe(
      crd.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema,
    );
  }
  for (const version of ['v1', '', 'v1beta2 ', 'constructor']) {
    expect(isVersion(version)).toBe(false);
  }
});
