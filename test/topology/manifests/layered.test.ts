import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { layered } from '../../../src/topology/index.ts';

const core = 'cluster.x-k8s.io/v1beta2';
const lastApplied = (object: JsonObject) => ({
  'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(object),
});
const cluster = (spec: JsonObject, metadata: JsonObject = {}, apiVersion = core): JsonObject => ({
  apiVersion,
  kind: 'Cluster',
  metadata: { name: 'one', namespace: 'default', ...metadata },
  spec,
});
const specOf = (objects: JsonObject[]) => objects[0]?.spec;

describe('-f on top of --from', () => {
  test('what is not named stays, and what is new comes', () => {
    const [one, two] = [cluster({ a: 1 }), cluster({ a: 2 }, { name: 'two' })];
    expect(layered([one], [two])).toEqual([one, two]);
  });

  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['two manifests: the second is all there will be', cluster({ a: 1, b: 2 }), cluster({ a: 3 }), { a: 3 }],
    [
      'a manifest on a live object: only what was applied and is gone is removed',
      cluster({ a: 1, b: 2, c: 3 }, { uid: '1', annotations: lastApplied(cluster({ a: 1, b: 2 })) }),
      cluster({ a: 5 }),
      { a: 5, c: 3 },
    ],
    [
      'a live object that was not applied: nothing is removed',
      cluster({ a: 1, b: 2 }, { uid: '1' }),
      cluster({ a: 5 }),
      { a: 5, b: 2 },
    ],
    ['a dump on a dump', cluster({ a: 1, b: 2 }, { uid: '1' }), cluster({ a: 1 }, { uid: '1' }), { a: 1 }],
    [
      'the references that Cluster API sets stay',
      cluster({ a: 1, controlPlaneRef: { name: 'x' } }),
      cluster({ a: 2 }),
      { a: 2, controlPlaneRef: { name: 'x' } },
    ],
    [
      'another version of the API',
      cluster({ topology: { classRef: { name: 'x' }, version: 'v1.34.0' } }, { uid: '1' }),
      cluster({ topology: { class: 'x', version: 'v1.35.0' } }, {}, 'cluster.x-k8s.io/v1beta1'),
      { topology: { classRef: { name: 'x' }, version: 'v1.35.0' } },
    ],
  ])('%s', (_, from, change, spec) => {
    expect(specOf(layered([from], [change]))).toEqual(spec);
  });

  test.each([
    ['cluster.x-k8s.io/v1beta2', 'Machine', {}],
    ['cluster.x-k8s.io/v1beta2', 'MachineDeployment', { 'topology.cluster.x-k8s.io/owned': '' }],
    ['controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', { 'topology.cluster.x-k8s.io/owned': '' }],
    ['infrastructure.cluster.x-k8s.io/v1beta2', 'DevMachineTemplate', { 'topology.cluster.x-k8s.io/owned': '' }],
    [
      'bootstrap.cluster.x-k8s.io/v1beta2',
      'KubeadmConfig',
      { 'cluster.x-k8s.io/cluster-name': 'one', 'cluster.x-k8s.io/set-name': 'x' },
    ],
  ])('what Cluster API makes itself comes from --from only: %s %s', (apiVersion, kind, labels) => {
    const made = (spec: JsonObject) => ({ apiVersion, kind, metadata: { name: 'x', labels }, spec });
    expect(layered([made({ a: 1 })], [made({ a: 2 })])).toEqual([made({ a: 1 })]);
    expect(layered([], [made({ a: 2 })])).toEqual([]);
  });

  test.each([
    ['cluster.x-k8s.io/v1beta2', 'MachineDeployment', {}],
    ['controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', { 'cluster.x-k8s.io/cluster-name': 'one' }],
    ['infrastructure.cluster.x-k8s.io/v1beta2', 'DevMachineTemplate', { 'cluster.x-k8s.io/cluster-name': 'one' }],
    ['infrastructure.cluster.x-k8s.io/v1beta2', 'DevCluster', { 'cluster.x-k8s.io/cluster-name': 'one' }],
  ])('what a user wrote without a topology is applied: %s %s', (apiVersion, kind, labels) => {
    const written = (spec: JsonObject) => ({ apiVersion, kind, metadata: { name: 'x', labels }, spec });
    expect(specOf(layered([written({ a: 1 })], [written({ a: 2 })]))).toEqual({ a: 2 });
  });
});
