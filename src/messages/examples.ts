const core = 'sigs.k8s.io.cluster-api.api.core.v1beta2';
const namespace = 'default';

/** A template of an infrastructure provider, as in GeneratePatches requests. */
const template = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'ExampleClusterTemplate',
  metadata: { name: 'example', namespace },
  spec: { template: { spec: { region: 'eu' } } },
};

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
  [`${core}.Cluster`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'example', namespace, uid: '227d048d-691e-418b-a2cb-736154635d0a', generation: 1 },
    spec: {
      clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
      topology: {
        classRef: { name: 'example' },
        version: 'v1.33.0',
        controlPlane: { replicas: 3 },
        workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
        variables: [{ name: 'region', value: 'eu' }],
      },
    },
  },
  [`${core}.Machine`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'example-md-0', namespace },
    spec: machineSpec,
  },
  [`${core}.MachineSet`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: { name: 'example-md-0', namespace },
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
