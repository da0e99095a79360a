import type { CoreVersion } from '../catalog/definition.ts';

const core = 'sigs.k8s.io.cluster-api.api.core.v1beta2';
const namespace = 'default';

/** A template of an infrastructure provider, as in GeneratePatches requests. */
const template = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'ExampleClusterTemplate',
  metadata: { name: 'example', namespace },
  spec: { template: { spec: { region: 'eu' } } },
};

/** A Cluster as samples show it, with the reference to its ClusterClass as its version has it. */
const cluster = (apiVersion: CoreVersion, classReference: object) => ({
  apiVersion: `cluster.x-k8s.io/${apiVersion}`,
  kind: 'Cluster',
  metadata: { name: 'example', namespace, uid: '227d048d-691e-418b-a2cb-736154635d0a', generation: 1 },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    topology: {
      ...classReference,
      version: 'v1.33.0',
      controlPlane: { replicas: 3 },
      workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
      variables: [{ name: 'region', value: 'eu' }],
    },
  },
});

const machineSpec = {
  clusterName: 'example',
  bootstrap: {
    configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name: 'example-md-0' },
    dataSecretName: 'example-md-0',
  },
  infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'ExampleMachine', name: 'example-md-0' },
  version: 'v1.33.0',
  failureDomain: 'zone-a',
};

/** Example objects for components in samples: small, and as Cluster API would send them. */
export const examples: Readonly<Record<string, unknown>> = {
  'k8s.io.apimachinery.pkg.runtime.RawExtension': template,
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': '2026-08-21T12:00:00Z',
  [`${core}.Cluster`]: cluster('v1beta2', { classRef: { name: 'example' } }),
  [`${core}.Machine`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'example-md-0', namespace, uid: 'c0b0a3a5-3a9c-4d53-8b1b-5d8f0a4d1f6e' },
    spec: machineSpec,
  },
  [`${core}.MachineSet`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: { name: 'example-md-0', namespace, uid: '5f2f2f0e-6f0c-4f6a-9a43-0a9a9c6c2d11' },
    spec: {
      clusterName: 'example',
      replicas: 2,
      selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': 'example-md-0' } },
      template: { spec: machineSpec },
    },
  },
  [`${core}.ClusterClassVariable`]: {
    name: 'region',
    required: true,
    schema: { openAPIV3Schema: { type: 'string', enum: ['eu', 'us'] } },
  },
};

/** The part of the Runtime SDK that says where a template is used. */
const holder = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.HolderReference';

/** The samples' replacements in messages with objects of an earlier version. A variable is the same in all of them. */
export const examplesIn: Readonly<Record<CoreVersion, Readonly<Record<string, unknown>>>> = {
  v1beta1: {
    [`${core}.Cluster`]: cluster('v1beta1', { class: 'example' }),
    [holder]: {
      apiVersion: 'cluster.x-k8s.io/v1beta1',
      kind: 'Cluster',
      namespace,
      name: 'example',
      fieldPath: 'spec.infrastructureRef',
    },
  },
  v1beta2: {},
};
