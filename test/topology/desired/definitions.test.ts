import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { definitionNotes, layered, plan, World } from '../../../src/topology/index.ts';

const groups = { RKE2ControlPlane: 'controlplane.cluster.x-k8s.io', RKE2Config: 'bootstrap.cluster.x-k8s.io' };
type Kind = keyof typeof groups;

const crd = (kind: Kind, properties: JsonObject, isOpen = true): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${groups[kind]}` },
  spec: {
    group: groups[kind],
    names: { kind },
    versions: [
      {
        name: 'v1beta2',
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': isOpen },
            },
          },
        },
      },
    ],
  },
});

const named = (apiVersion: string, kind: string, name: string, spec: JsonObject, metadata: JsonObject = {}) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default', ...metadata },
  spec,
});
const template = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'AMachineTemplate', name: 'a' };
const labels = { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/control-plane': '' };
const configRef = { apiGroup: groups.RKE2Config, kind: 'RKE2Config', name: 'm' };

/** A Cluster with one control plane Machine. */
const objects: JsonObject[] = [
  named('cluster.x-k8s.io/v1beta2', 'Cluster', 'c', {
    controlPlaneRef: { apiGroup: groups.RKE2ControlPlane, kind: 'RKE2ControlPlane', name: 'cp' },
  }),
  named(`${groups.RKE2ControlPlane}/v1beta2`, 'RKE2ControlPlane', 'cp', {
    replicas: 1,
    version: 'v1.33.2+rke2r1',
    machineTemplate: { spec: { infrastructureRef: template } },
    serverConfig: {},
    files: [{ path: '/etc/a' }],
  }),
  named(
    'cluster.x-k8s.io/v1beta2',
    'Machine',
    'm',
    { clusterName: 'c', version: 'v1.33.2+rke2r1', bootstrap: { configRef } },
    { labels, annotations: { 'controlplane.cluster.x-k8s.io/rke2-server-configuration': '{}' } },
  ),
  named(
    `${groups.RKE2Config}/v1beta2`,
    'RKE2Config',
    'm',
    { files: [{ path: '/etc/a' }] },
    {
      labels,
      ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'm', uid: 'a' }],
    },
  ),
];

const compressed = { gzipUserData: { type: 'boolean', default: false } };
const cni = { serverConfig: { type: 'object', properties: { cni: { type: 'string', default: 'calico' } } } };
const before = [...objects, crd('RKE2ControlPlane', {}), crd('RKE2Config', {})];
const planned = async (...definitions: JsonObject[]) => {
  const after = layered(before, definitions);
  const { sum } = await plan(new World(before), new World(after), { now: new Date('2026-11-28T00:00:00Z') });
  return { replaced: sum.replaced, notes: definitionNotes(before, after) };
};

describe('a new release of a provider', () => {
  test('that changes nothing', async () => {
    expect(await planned(crd('RKE2ControlPlane', {}), crd('RKE2Config', {}))).toEqual({ replaced: 0, notes: [] });
  });

  test('a default that control planes and configs of Machines get replaces none', async () => {
    expect(await planned(crd('RKE2ControlPlane', compressed), crd('RKE2Config', compressed))).toEqual({
      replaced: 0,
      notes: [
        'RKE2ControlPlane: spec.gzipUserData is false by default now (RKE2ControlPlane default/cp)',
        'RKE2Config: spec.gzipUserData is false by default now (RKE2Config default/m)',
      ],
    });
  });

  test('a default that only control planes get replaces Machines', async () => {
    expect(await planned(crd('RKE2ControlPlane', compressed))).toMatchObject({ replaced: 1 });
  });

  test('a default that annotations of Machines do not have replaces them', async () => {
    expect(await planned(crd('RKE2ControlPlane', cni))).toEqual({
      replaced: 1,
      notes: ['RKE2ControlPlane: spec.serverConfig.cni is "calico" by default now (RKE2ControlPlane default/cp)'],
    });
  });

  test('a field that vanishes is said', async () => {
    const { notes } = await planned(crd('RKE2Config', { other: { type: 'string' } }, false));
    expect(notes).toEqual(['RKE2Config: spec.files is not a field any more (RKE2Config default/m)']);
  });
});
