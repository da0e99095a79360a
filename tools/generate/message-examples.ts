const apiVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';
const namespace = 'default';
const uid = '81771c91-7ba6-4702-9e11-a480eeab2e30';
const clusterUid = '227d048d-691e-418b-a2cb-736154635d0a';

/** An object of a provider. */
const provided = (group: string, kind: string, name: string, spec: object = {}) => ({
  apiVersion: `${group}.cluster.x-k8s.io/v1beta2`,
  kind,
  metadata: { name, namespace },
  spec: kind.endsWith('Template') ? { template: { spec } } : spec,
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

/** Examples for fields of messages, by `COMPONENT.FIELD`, `*.FIELD` for all that have none of their own. */
export const fieldExamples: Readonly<Record<string, unknown>> = {
  '*.apiVersion': apiVersion,
  '*.fromKubernetesVersion': 'v1.32.0',
  '*.kubernetesVersion': 'v1.33.0',
  '*.retryAfterSeconds': 0,
  '*.settings': { region: 'eu' },
  '*.status': 'Success',
  '*.toKubernetesVersion': 'v1.33.0',
  '*.version': 'v1.33.0',
  '*.uid': uid,
  '*.bootstrapConfig': provided('bootstrap', 'KubeadmConfig', 'example-md-0'),
  '*.bootstrapConfigTemplate': provided('bootstrap', 'KubeadmConfigTemplate', 'example'),
  '*.infrastructureMachine': provided('infrastructure', 'ExampleMachine', 'example-md-0'),
  '*.infrastructureMachineTemplate': provided('infrastructure', 'ExampleMachineTemplate', 'example'),
  'ExtensionHandler.name': 'before-cluster-create',
  'ExtensionHandler.timeoutSeconds': 10,
  'ExtensionHandler.failurePolicy': 'Fail',
  'GroupVersionHook.hook': 'BeforeClusterCreate',
  'HolderReference.apiVersion': 'cluster.x-k8s.io/v1beta2',
  'HolderReference.kind': 'Cluster',
  'HolderReference.namespace': namespace,
  'HolderReference.name': 'example',
  'HolderReference.fieldPath': 'spec.infrastructureRef',
  'Patch.patchType': 'JSONMergePatch',
  'Patch.patch': 'eyJzcGVjIjp7fX0=',
  'GeneratePatchesResponseItem.patchType': 'JSONPatch',
  'GeneratePatchesResponseItem.patch':
    'W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvdGVtcGxhdGUvc3BlYy9yZWdpb24iLCJ2YWx1ZSI6ImV1In1d',
  'Variable.name': 'builtin',
  'Variable.value': { cluster: { name: 'example', namespace, uid: clusterUid } },
  'GenerateUpgradePlanRequest.fromControlPlaneKubernetesVersion': 'v1.32.0',
  'GenerateUpgradePlanRequest.fromWorkersKubernetesVersion': 'v1.32.0',
};

const core = 'sigs.k8s.io.cluster-api.api.core.v1beta2';

/** Example objects for components: small, and as Cluster API would send them. */
export const componentExamples: Readonly<Record<string, unknown>> = {
  'k8s.io.apimachinery.pkg.runtime.RawExtension': provided('infrastructure', 'ExampleClusterTemplate', 'example', {
    region: 'eu',
  }),
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time': '2026-08-21T12:00:00Z',
  [`${core}.Cluster`]: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'example', namespace, uid: clusterUid, generation: 1 },
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
