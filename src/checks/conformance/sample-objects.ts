import type { JsonObject } from '../../kubernetes/index.ts';

/** Namespace of all sample objects, easy to recognize in a log. */
const sampleNamespace = 'conformance-sample';
/** Name of the sample Cluster, and prefix of the names of its parts. */
const sampleCluster = 'conformance-sample-cluster';

const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';
const uid = '00000000-0000-4000-8000-000000000000';

const versionOf = (release: number) => `v1.${release}.0`;

/** The Cluster in all requests: in v1beta2 and without a status, as releases from 1.13 on send it. */
export const cluster: JsonObject = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: sampleCluster, namespace: sampleNamespace, uid, generation: 1 },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    topology: {
      classRef: { name: 'conformance-sample-class' },
      version: versionOf(33),
      controlPlane: { replicas: 3 },
      workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
    },
  },
};

/** The same Cluster as sent by releases up to 1.12. */
export const olderCluster: JsonObject = {
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: 'Cluster',
  metadata: { name: sampleCluster, namespace: sampleNamespace, uid, generation: 1 },
  spec: {
    clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/16'] } },
    infrastructureRef: { apiVersion: infrastructure, kind: 'DockerCluster', name: sampleCluster },
    topology: {
      class: 'conformance-sample-class',
      version: versionOf(33),
      controlPlane: { replicas: 3, nodeDrainTimeout: '10s' },
      workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 2 }] },
    },
  },
  status: { phase: 'Provisioned', infrastructureReady: true, conditions: [] },
};

const templateName = 'conformance-sample-template';

/**
 * A template as Cluster API 1.14 and newer send it: with the labels and annotations of what will be made of it, either in
 * its own metadata, or in that of the object that it becomes.
 */
function template(apiVersion: string, kind: string, spec: JsonObject, becomesObject = false): JsonObject {
  const made = {
    labels: { 'cluster.x-k8s.io/cluster-name': sampleCluster, 'topology.cluster.x-k8s.io/owned': '' },
    annotations: {
      'cluster.x-k8s.io/cloned-from-name': templateName,
      'cluster.x-k8s.io/cloned-from-groupkind': `${kind}.${apiVersion.split('/')[0]}`,
    },
  };
  return {
    apiVersion,
    kind,
    metadata: { name: templateName, namespace: sampleNamespace, ...(!becomesObject && made) },
    spec: { template: { ...(becomesObject && { metadata: made }), spec } },
  };
}

interface Placed {
  uid: string;
  holder: [kind: string, name: string, fieldPath: string];
  object: JsonObject;
  builtin?: JsonObject;
}

const worker: JsonObject = {
  machineDeployment: {
    version: versionOf(33),
    class: 'default-worker',
    name: `${sampleCluster}-md-0`,
    topologyName: 'md-0',
    replicas: 2,
  },
};
const controlPlane: JsonObject = {
  controlPlane: { version: versionOf(33), name: `${sampleCluster}-cp`, replicas: 3 },
};

/** The templates of a typical ClusterClass, in the places where Cluster API finds them. */
const placed: readonly Placed[] = [
  {
    uid: '00000000-0000-4000-8000-000000000001',
    holder: ['Cluster', sampleCluster, 'spec.infrastructureRef'],
    object: template(infrastructure, 'DockerClusterTemplate', { loadBalancer: {} }, true),
  },
  {
    uid: '00000000-0000-4000-8000-000000000002',
    holder: ['Cluster', sampleCluster, 'spec.controlPlaneRef'],
    object: template(
      'controlplane.cluster.x-k8s.io/v1beta2',
      'KubeadmControlPlaneTemplate',
      { kubeadmConfigSpec: { clusterConfiguration: {}, files: [] } },
      true,
    ),
    builtin: controlPlane,
  },
  {
    uid: '00000000-0000-4000-8000-000000000003',
    holder: ['KubeadmControlPlane', `${sampleCluster}-cp`, 'spec.machineTemplate.spec.infrastructureRef'],
    object: template(infrastructure, 'DockerMachineTemplate', { customImage: 'kindest/node:v1.33.0' }),
    builtin: controlPlane,
  },
  {
    uid: '00000000-0000-4000-8000-000000000004',
    holder: ['MachineDeployment', `${sampleCluster}-md-0`, 'spec.template.spec.bootstrap.configRef'],
    object: template('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate', { files: [] }),
    builtin: worker,
  },
  {
    uid: '00000000-0000-4000-8000-000000000005',
    holder: ['MachineDeployment', `${sampleCluster}-md-0`, 'spec.template.spec.infrastructureRef'],
    object: template(infrastructure, 'DockerMachineTemplate', { customImage: 'kindest/node:v1.33.0' }),
    builtin: worker,
  },
];

const apiVersionOfHolder = (kind: string) =>
  kind === 'KubeadmControlPlane' ? 'controlplane.cluster.x-k8s.io/v1beta2' : 'cluster.x-k8s.io/v1beta2';

/** The items of GeneratePatches; those of ValidateTopology have no `uid`. */
export const items: readonly JsonObject[] = placed.map((item) => ({
  uid: item.uid,
  holderReference: {
    apiVersion: apiVersionOfHolder(item.holder[0]),
    kind: item.holder[0],
    namespace: sampleNamespace,
    name: item.holder[1],
    fieldPath: item.holder[2],
  },
  object: item.object,
  ...(item.builtin && { variables: [{ name: 'builtin', value: item.builtin }] }),
}));

/** The variables that every Cluster has. */
export const builtin: JsonObject = {
  name: 'builtin',
  value: {
    cluster: {
      name: sampleCluster,
      namespace: sampleNamespace,
      uid,
      topology: { version: versionOf(33), classRef: { name: 'conformance-sample-class', namespace: sampleNamespace } },
      network: { pods: ['10.0.0.0/16'] },
    },
  },
};

const machineName = 'conformance-sample-machine';

function machineSpec(release: number): JsonObject {
  return {
    clusterName: sampleCluster,
    bootstrap: {
      configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name: machineName },
      dataSecretName: machineName,
    },
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DockerMachine', name: machineName },
    version: versionOf(release),
    failureDomain: 'zone-a',
  };
}

const metadata = { name: machineName, namespace: sampleNamespace };

/** A machine with its objects, as in requests of in-place update hooks. */
export const machineObjects = (release: number): JsonObject => ({
  machine: { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', metadata, spec: machineSpec(release) },
  infrastructureMachine: {
    apiVersion: infrastructure,
    kind: 'DockerMachine',
    metadata,
    spec: { customImage: `kindest/node:${versionOf(release)}` },
  },
  bootstrapConfig: {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfig',
    metadata,
    spec: { files: [] },
  },
});

/** A MachineSet with its templates, as in requests of in-place update hooks. */
export const machineSetObjects = (release: number): JsonObject => ({
  machineSet: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata,
    spec: {
      clusterName: sampleCluster,
      replicas: 2,
      selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': `${sampleCluster}-md-0` } },
      template: { spec: machineSpec(release) },
    },
  },
  infrastructureMachineTemplate: template(infrastructure, 'DockerMachineTemplate', {
    customImage: `kindest/node:${versionOf(release)}`,
  }),
  bootstrapConfigTemplate: template('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate', { files: [] }),
});
