import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/index.ts';
import { readInput } from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { v1 } from '../../../src/runtimehooks/index.ts';
import { inV1beta2, SimulatedCluster } from '../../../src/topology/index.ts';
import { objectsOf } from './rehearsing.ts';
import { simulate } from './simulating.ts';

const old = `
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: { name: c, namespace: team }
spec:
  paused: false
  clusterNetwork: { pods: { cidrBlocks: [10.0.0.0/16] } }
  controlPlaneRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: c-x, namespace: team }
  topology:
    class: k
    classNamespace: classes
    version: v1.31.0
    rolloutAfter: "2026-01-01T00:00:00Z"
    controlPlane:
      replicas: 3
      nodeDrainTimeout: 1h5m0s
      machineHealthCheck:
        enable: true
        maxUnhealthy: 40%
        nodeStartupTimeout: 90s
        unhealthyConditions: [{ type: Ready, status: Unknown, timeout: 5m }]
        remediationTemplate: { apiVersion: r/v1, kind: R, name: r, namespace: team }
    variables: [{ name: v, value: 1, definitionFrom: p }]
    workers:
      machineDeployments:
        - class: w
          name: md-0
          replicas: 2
          nodeDeletionTimeout: 10s
          strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 0, maxUnavailable: 1, deletePolicy: Oldest }, remediation: { maxInFlight: 1 } }
          variables: { overrides: [{ name: v, value: 2, definitionFrom: p }] }
      machinePools: [{ class: p, name: mp-0, nodeVolumeDetachTimeout: 0s, machineHealthCheck: {}, strategy: {} }]
`;

const newer = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'c', namespace: 'team' },
  spec: {
    paused: false,
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'c-x' },
    topology: {
      classRef: { name: 'k', namespace: 'classes' },
      version: 'v1.31.0',
      controlPlane: {
        replicas: 3,
        deletion: { nodeDrainTimeoutSeconds: 3900 },
        healthCheck: {
          enabled: true,
          checks: {
            unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }],
            nodeStartupTimeoutSeconds: 90,
          },
          remediation: {
            triggerIf: { unhealthyLessThanOrEqualTo: '40%' },
            templateRef: { apiVersion: 'r/v1', kind: 'R', name: 'r' },
          },
        },
      },
      variables: [{ name: 'v', value: 1 }],
      workers: {
        machineDeployments: [
          {
            class: 'w',
            name: 'md-0',
            replicas: 2,
            rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } },
            deletion: { order: 'Oldest', nodeDeletionTimeoutSeconds: 10 },
            healthCheck: { remediation: { maxInFlight: 1 } },
            variables: { overrides: [{ name: 'v', value: 2 }] },
          },
        ],
        machinePools: [{ class: 'p', name: 'mp-0', deletion: { nodeVolumeDetachTimeoutSeconds: 0 } }],
      },
    },
  },
};

const read = (yaml: string) => objectsOf(yaml)[0]!.object;

describe('a Cluster of v1beta1', () => {
  test('in v1beta2', async () => {
    expect(inV1beta2(read(old))).toEqual(newer);
  });

  test('and back, as Cluster API 1.12 sent it', async () => {
    const { rolloutAfter: _, ...topology } = (read(old).spec as JsonObject).topology as JsonObject;
    const simulated = new SimulatedCluster(undefined, { release: v1(12), schemaOf: () => undefined, newUid: () => '' });
    const back = simulated.inRequest(newer as never, 'BeforeClusterCreate');
    expect(inV1beta2(back)).toEqual(newer);
    expect(Object.keys((back.spec as JsonObject).topology as object).sort()).toEqual(Object.keys(topology).sort());
    expect((back.spec as JsonObject).controlPlaneRef).toEqual((read(old).spec as JsonObject).controlPlaneRef);
  });

  test.each([
    '5',
    '5x',
    'm',
    `${'9'.repeat(200)}s`,
  ])('with the duration %j, which is none, has no timeout', async (timeout) => {
    const object = inV1beta2(read(old.replace('1h5m0s', JSON.stringify(timeout))));
    expect(object).toMatchObject({ spec: { topology: { controlPlane: { replicas: 3 } } } });
    expect(JSON.stringify(object)).not.toContain('nodeDrainTimeoutSeconds');
  });
});

const oldClass = `
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: { name: k, namespace: classes }
spec:
  infrastructure: { ref: { apiVersion: i.x/v1, kind: ITemplate, name: i, namespace: classes } }
  infrastructureNamingStrategy: { template: "{{ .cluster.name }}-i" }
  controlPlane:
    metadata: { labels: { a: b } }
    ref: { apiVersion: c.x/v1, kind: CTemplate, name: c }
    machineInfrastructure: { ref: { apiVersion: i.x/v1, kind: MTemplate, name: m } }
    nodeDrainTimeout: 10s
    namingStrategy: { template: "{{ .cluster.name }}-cp" }
  workers:
    machineDeployments:
      - class: w
        template:
          metadata: { labels: { c: d } }
          bootstrap: { ref: { apiVersion: b.x/v1, kind: BTemplate, name: b } }
          infrastructure: { ref: { apiVersion: i.x/v1, kind: MTemplate, name: m } }
  patches:
    - { name: p, external: { generateExtension: g.e, validateExtension: v.e, discoverVariablesExtension: d.e, settings: { s: "1" } } }
    - { name: q, definitions: [{ jsonPatches: [{ op: remove, path: /spec }], selector: { kind: None } }] }
`;

test('a ClusterClass of v1beta1 in v1beta2', async () => {
  const reference = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, name });
  expect(inV1beta2(read(oldClass))).toEqual({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'k', namespace: 'classes' },
    spec: {
      infrastructure: {
        templateRef: reference('i.x/v1', 'ITemplate', 'i'),
        naming: { template: '{{ .cluster.name }}-i' },
      },
      controlPlane: {
        metadata: { labels: { a: 'b' } },
        templateRef: reference('c.x/v1', 'CTemplate', 'c'),
        machineInfrastructure: { templateRef: reference('i.x/v1', 'MTemplate', 'm') },
        deletion: { nodeDrainTimeoutSeconds: 10 },
        naming: { template: '{{ .cluster.name }}-cp' },
      },
      workers: {
        machineDeployments: [
          {
            class: 'w',
            metadata: { labels: { c: 'd' } },
            bootstrap: { templateRef: reference('b.x/v1', 'BTemplate', 'b') },
            infrastructure: { templateRef: reference('i.x/v1', 'MTemplate', 'm') },
          },
        ],
      },
      patches: [
        {
          name: 'p',
          external: {
            generatePatchesExtension: 'g.e',
            validateTopologyExtension: 'v.e',
            discoverVariablesExtension: 'd.e',
            settings: { s: '1' },
          },
        },
        { name: 'q', definitions: [{ jsonPatches: [{ op: 'remove', path: '/spec' }], selector: { kind: 'None' } }] },
      ],
    },
  });
});

test('both are rehearsed, with templates of their patches', async () => {
  const template = (apiVersion: string, kind: string, name: string) =>
    `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name}, namespace: classes }\nspec: { template: { spec: {} } }\n`;
  const templates = [
    template('i.x/v1', 'ITemplate', 'i'),
    template('c.x/v1', 'CTemplate', 'c'),
    template('i.x/v1', 'MTemplate', 'm'),
    template('b.x/v1', 'BTemplate', 'b'),
  ].join('');
  const yaml = old
    .replace(/\n {2}controlPlaneRef.*/, '')
    .replace(/\n {4}variables:.*/, '')
    .replace(/\n {10}variables:.*/, '')
    .replace(/\n {6}machinePools.*/, '');
  const simulated = await simulate(() => undefined, { yaml: yaml + oldClass + templates, upgrades: ['v1.32.0'] });
  expect(simulated.end).toMatchObject({ isComplete: true, reason: '' });
  const { items } = simulated.calls.find(({ hook }) => hook === 'GeneratePatches')!.request as { items: JsonObject[] };
  expect(items.map(({ object }) => (object as JsonObject).kind)).toEqual([
    'ITemplate',
    'CTemplate',
    'MTemplate',
    'BTemplate',
    'MTemplate',
  ]);
});

test('other versions are refused', async () => {
  const yaml = old.replace('cluster.x-k8s.io/v1beta1', 'cluster.x-k8s.io/v1alpha4');
  expect(() => readInput(objectsOf(yaml), undefined)).toThrow(UsageError);
});
