import { expect, test } from 'vitest';
import { allowDeletionAnnotation } from '../../../src/extensionconfig/index.ts';
import type { AdmissionRequest, JsonObject } from '../../../src/kubernetes/index.ts';
import type { ClusterKnowledge, Level } from '../../../src/policy/index.ts';
import { createManifestFacts } from '../../../src/policy/index.ts';
import { example, exampleClass, exampleCluster } from '../rules/examples.ts';
import { admission, requestFor } from './policy.ts';

function knowing(objects: readonly JsonObject[]): () => ClusterKnowledge {
  const { facts, add } = createManifestFacts();
  objects.forEach(add);
  return () => ({ facts, ageMs: 1500, unknown: ['Secret'] });
}

const named = knowing([exampleClass()]);

function deletionOf(oldObject: JsonObject | undefined, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const request = requestFor(oldObject, { operation: 'DELETE', ...more });
  return { ...request, object: undefined, oldObject };
}

test('denies a deletion while a class names a handler, and says what to do', () => {
  const { response, verdict, deniedBy } = admission({ facts: named }).validate(deletionOf(example()));
  expect(response).toMatchObject({
    allowed: false,
    status: { code: 403, reason: 'Forbidden', details: { name: 'my-extension', causes: [{ field: 'metadata.name' }] } },
    auditAnnotations: { 'denied-by': 'deletion-named-by-class', 'facts-age-seconds': '2', 'facts-unknown': 'Secret' },
  });
  expect(response.status?.message).toBe(
    'ExtensionConfig "my-extension" cannot be deleted, because its handlers are named by ClusterClass clusters/quick-start (spec.patches[0].external.generatePatchesExtension): their Clusters would stop reconciling; remove them there first, or allow it with kubectl annotate extensionconfig my-extension extensionconfig-webhook.runtime.cluster.x-k8s.io/allow-deletion=true',
  );
  expect([verdict, deniedBy]).toEqual(['denied', ['deletion-named-by-class']]);
});

test('finds the ExtensionConfig in a handler name by the part after the last dot', () => {
  const facts = knowing([exampleClass('my-extension.other')]);
  expect(admission({ facts }).validate(deletionOf(example())).response.allowed).toBe(true);
});

const deleting = example();
deleting.metadata = { ...(deleting.metadata as JsonObject), deletionTimestamp: '2026-01-01T00:00:00Z' };

test.each<[string, AdmissionRequest]>([
  ['with the annotation', deletionOf(example({ annotations: { [allowDeletionAnnotation]: 'true' } }))],
  [
    'by the garbage collector',
    deletionOf(example(), { username: 'system:serviceaccount:kube-system:generic-garbage-collector' }),
  ],
  [
    'by the namespace controller',
    deletionOf(example(), { username: 'system:serviceaccount:kube-system:namespace-controller' }),
  ],
  [
    'by a controller manager without service accounts',
    deletionOf(example(), { username: 'system:kube-controller-manager' }),
  ],
  ['of an object that is already being deleted', deletionOf(deleting)],
  ['of an object that the API server does not send', deletionOf(undefined, { name: 'my-extension' })],
  ['of a subresource', deletionOf(example(), { subResource: 'status' })],
])('does not deny a deletion %s', (_name, request) => {
  expect(admission({ facts: named }).validate(request).response.allowed).toBe(true);
});

test.each<[string, AdmissionRequest]>([
  ['by a controller of the cluster', deletionOf(example(), { username: 'system:apiserver' })],
  ['of an object that is already being deleted', deletionOf(deleting)],
  ['of an object that the API server does not send', deletionOf(undefined, { name: 'my-extension' })],
  ['of a subresource', deletionOf(example(), { subResource: 'status' })],
])('does not examine a deletion %s', (_name, request) => {
  expect(admission({ facts: named }).validate(request).response).toEqual({ uid: 'a-uid', allowed: true });
});

test('combines several reasons into one message, without warnings', () => {
  const facts = knowing([
    exampleClass(),
    exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' }),
  ]);
  const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'AfterClusterUpgrade' };
  const request = deletionOf(example({ handler: { requestHook } }));
  const byClass = /its handlers are named by ClusterClass clusters\/quick-start/;
  const awaited = /its hook AfterClusterUpgrade is still pending/;
  const both = admission({ facts }).validate(request).response;
  expect(both.status?.message).toMatch(
    /^ExtensionConfig "my-extension" cannot be deleted, because .*=true; cannot be deleted, because .*=true$/,
  );
  expect(both.status?.message).toMatch(byClass);
  expect(both.status?.message).toMatch(awaited);
  const levels = new Map<string, Level>([['deletion-awaited-by-cluster', 'warn']]);
  const one = admission({ facts, levels }).validate(request).response;
  expect(one.status?.message).toMatch(byClass);
  expect(one.status?.message).not.toMatch(awaited);
  expect(one.warnings).toEqual([expect.stringMatching(awaited)]);
});

test('denies the deletion also to another account with a similar name', () => {
  const request = deletionOf(example(), { username: 'system:serviceaccount:kube-system-2:generic-garbage-collector' });
  expect(admission({ facts: named }).validate(request).response.allowed).toBe(false);
});

test('does not deny a deletion if facts are not used, or not known', () => {
  const unknown: ClusterKnowledge = { facts: {}, ageMs: undefined, unknown: ['ClusterClass', 'Cluster'] };
  expect(admission().validate(deletionOf(example())).response).toEqual({ uid: 'a-uid', allowed: true });
  expect(admission({ facts: () => unknown }).validate(deletionOf(example())).response).toEqual({
    uid: 'a-uid',
    allowed: true,
    auditAnnotations: { 'facts-unknown': 'ClusterClass,Cluster' },
  });
});

test('applies neither the rules for objects nor the feature gate to a deletion', () => {
  const { response } = admission({ facts: named, isRuntimeSdkEnabled: false }).validate(
    deletionOf(example({ name: 'other', clientConfig: {} })),
  );
  expect(response.allowed).toBe(true);
});

test('--enforcement warn turns the denial into a warning', () => {
  const { response } = admission({ facts: named, enforcement: 'warn' }).validate(deletionOf(example()));
  expect(response.allowed).toBe(true);
  expect(response.warnings?.[0]).toContain('cannot be deleted');
});

test('mutation ignores deletions', () => {
  expect(admission({ facts: named }).mutate(deletionOf(example({ clientConfig: {} }))).response).toEqual({
    uid: 'a-uid',
    allowed: true,
  });
});
