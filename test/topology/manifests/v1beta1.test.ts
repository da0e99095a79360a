import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { inV1beta2 } from '../../../src/topology/index.ts';

const converted = (yaml: string) => inV1beta2(parse(yaml) as JsonObject);

test('a template of a kubeadm control plane', () => {
  const template = converted(`
    apiVersion: controlplane.cluster.x-k8s.io/v1beta1
    kind: KubeadmControlPlaneTemplate
    metadata: { name: quick-start }
    spec:
      template:
        spec:
          kubeadmConfigSpec:
            clusterConfiguration:
              apiVersion: kubeadm.k8s.io/v1beta3
              kind: ClusterConfiguration
              clusterName: x
              networking: { serviceSubnet: 10.0.0.0/12 }
              apiServer:
                timeoutForControlPlane: 1m30s
                extraArgs: { v: "2", profiling: "false", empty: "" }
                certSANs: [localhost]
                extraVolumes:
                  - { name: a, hostPath: /a, mountPath: /a, readOnly: false }
                  - { name: b, hostPath: /b, mountPath: /b, readOnly: true }
              controllerManager: { extraArgs: { enable-hostpath-provisioner: "true" } }
              etcd: { local: { dataDir: /d, extraArgs: { a: b } } }
            initConfiguration:
              bootstrapTokens: [{ token: abc, ttl: 24h0m0s }]
              nodeRegistration:
                kubeletExtraArgs: { node-labels: a=b }
                taints: []
            joinConfiguration:
              controlPlane: {}
              discovery: { timeout: 5m }
              nodeRegistration: { kubeletExtraArgs: {} }
            files:
              - { path: /a, content: a, append: false }
              - { path: /b, content: b, append: true }
            useExperimentalRetryJoin: true
          machineTemplate: { nodeDrainTimeout: 30900ms }
          rolloutBefore: { certificatesExpiryDays: 21 }
          rolloutStrategy: { rollingUpdate: { maxSurge: 0 } }
          remediationStrategy: { maxRetry: 3, retryPeriod: 10s }
          machineNamingStrategy: { template: "{{ .random }}" }`);
  expect(template).toEqual(
    parse(`
    apiVersion: controlplane.cluster.x-k8s.io/v1beta2
    kind: KubeadmControlPlaneTemplate
    metadata: { name: quick-start }
    spec:
      template:
        spec:
          kubeadmConfigSpec:
            clusterConfiguration:
              apiServer:
                extraArgs: [{ name: empty, value: "" }, { name: profiling, value: "false" }, { name: v, value: "2" }]
                certSANs: [localhost]
                extraVolumes:
                  - { name: a, hostPath: /a, mountPath: /a }
                  - { name: b, hostPath: /b, mountPath: /b, readOnly: true }
              controllerManager: { extraArgs: [{ name: enable-hostpath-provisioner, value: "true" }] }
              etcd: { local: { dataDir: /d, extraArgs: [{ name: a, value: b }] } }
            initConfiguration:
              bootstrapTokens: [{ token: abc, ttlSeconds: 86400 }]
              nodeRegistration:
                kubeletExtraArgs: [{ name: node-labels, value: a=b }]
                taints: []
              timeouts: { controlPlaneComponentHealthCheckSeconds: 90 }
            joinConfiguration:
              controlPlane: {}
              nodeRegistration: { kubeletExtraArgs: [] }
              timeouts: { tlsBootstrapSeconds: 300, controlPlaneComponentHealthCheckSeconds: 90 }
            files:
              - { path: /a, content: a }
              - { path: /b, content: b, append: true }
          machineTemplate: { spec: { deletion: { nodeDrainTimeoutSeconds: 30 } } }
          rollout: { before: { certificatesExpiryDays: 21 }, strategy: { rollingUpdate: { maxSurge: 0 } } }
          remediation: { maxRetry: 3, retryPeriodSeconds: 10 }
          machineNaming: { template: "{{ .random }}" }`),
  );
});

test('a control plane that exists', () => {
  const { spec } = converted(`
    apiVersion: controlplane.cluster.x-k8s.io/v1beta1
    kind: KubeadmControlPlane
    spec:
      replicas: 3
      version: v1.34.0
      rolloutAfter: "2026-01-01T00:00:00Z"
      machineTemplate:
        metadata: { labels: { a: b } }
        infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: M, name: m, namespace: n }
      kubeadmConfigSpec: { clusterConfiguration: { kubernetesVersion: v1.34.0 } }`);
  expect(spec).toEqual({
    replicas: 3,
    version: 'v1.34.0',
    rollout: { after: '2026-01-01T00:00:00Z' },
    machineTemplate: {
      metadata: { labels: { a: 'b' } },
      spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'M', name: 'm' } },
    },
  });
});

test('a MachineDeployment, and what it makes', () => {
  const machine = `
          clusterName: c
          version: v1.34.0
          bootstrap: { configRef: { apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: T, name: t } }
          infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: M, name: m }
          nodeDeletionTimeout: 10s`;
  const newer = {
    clusterName: 'c',
    version: 'v1.34.0',
    bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'T', name: 't' } },
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'M', name: 'm' },
    deletion: { nodeDeletionTimeoutSeconds: 10 },
  };
  expect(converted(`{ apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine }`).apiVersion).toBe(
    'cluster.x-k8s.io/v1beta2',
  );
  expect(
    converted(`
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: Machine
    spec: ${machine}`).spec,
  ).toEqual(newer);
  const template = `
      template:
        metadata: { labels: { a: b } }
        spec: ${machine}`;
  expect(
    converted(`
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachineSet
    spec:
      deletePolicy: Newest
      minReadySeconds: 5${template}`).spec,
  ).toEqual({
    deletion: { order: 'Newest' },
    template: { metadata: { labels: { a: 'b' } }, spec: { ...newer, minReadySeconds: 5 } },
  });
  expect(
    converted(`
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachineDeployment
    spec:
      progressDeadlineSeconds: 600
      rolloutAfter: "2026-01-01T00:00:00Z"
      strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 1, deletePolicy: Oldest }, remediation: { maxInFlight: 1 } }${template}`)
      .spec,
  ).toEqual({
    deletion: { order: 'Oldest' },
    remediation: { maxInFlight: 1 },
    rollout: { after: '2026-01-01T00:00:00Z', strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    template: { metadata: { labels: { a: 'b' } }, spec: newer },
  });
});

test.each([
  ['objects of other kinds', 'infrastructure.cluster.x-k8s.io/v1beta1', 'DockerMachineTemplate'],
  ['objects of v1beta2', 'controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane'],
])('%s stay as they are', (_, apiVersion, kind) => {
  const object = { apiVersion, kind, spec: { rolloutAfter: 'x' } };
  expect(inV1beta2(object)).toBe(object);
});
