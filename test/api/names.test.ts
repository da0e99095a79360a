import { expect, test } from 'vitest';
import { apiVersionOf, crd, isVersion, openApiSchemaOf, versionOf, versions } from '../../src/api/index.ts';

test('the versions are those that the CustomResourceDefinition serves, each with its apiVersion', () => {
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

test('a version has a schema, anything else has none', () => {
  for (const version of versions) {
    expect(isVersion(version)).toBe(true);
    expect(openApiSchemaOf(version)).toBe(
      crd.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema,
    );
  }
  for (const version of ['v1', '', 'v1beta2 ', 'constructor']) {
    expect(isVersion(version)).toBe(false);
    expect(() => openApiSchemaOf(version)).toThrow(`the CustomResourceDefinition has no version ${version}`);
  }
});
