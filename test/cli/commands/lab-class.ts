import type { JsonObject } from '../../../src/kubernetes/index.ts';

const template = (kind: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: kind.startsWith('Lab')
    ? 'infrastructure.cluster.x-k8s.io/v1beta2'
    : 'controlplane.cluster.x-k8s.io/v1beta2',
  kind,
  metadata: { name: 'lab', namespace: 'default' },
  spec: { template: { spec } },
});
const referenceTo = ({ apiVersion, kind }: JsonObject): JsonObject => ({
  templateRef: { apiVersion: apiVersion!, kind: kind!, name: 'lab' },
});
const bootstrap: JsonObject = {
  ...template('KubeadmConfigTemplate', { format: 'cloud-config' }),
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
};
export const labMachines = template('LabMachineTemplate', { size: 1 });
const [cluster, controlPlane] = [
  template('LabClusterTemplate', { region: 'north' }),
  template('KubeadmControlPlaneTemplate', { kubeadmConfigSpec: { format: 'cloud-config' } }),
];
const version = 'cluster.x-k8s.io/v1beta2';
/** A Cluster and its class, with a patch of an extension if one is named. */
export const labObjects = (generatePatchesExtension?: string, discoverVariablesExtension?: string): JsonObject[] => [
  cluster,
  controlPlane,
  labMachines,
  bootstrap,
  {
    apiVersion: version,
    kind: 'ClusterClass',
    metadata: { name: 'lab', namespace: 'default' },
    spec: {
      infrastructure: referenceTo(cluster),
      controlPlane: { ...referenceTo(controlPlane), machineInfrastructure: referenceTo(labMachines) },
      workers: {
        machineDeployments: [
          { class: 'any', bootstrap: referenceTo(bootstrap), infrastructure: referenceTo(labMachines) },
        ],
      },
      ...(generatePatchesExtension !== undefined && {
        patches: [
          {
            name: 'sizes',
            external: {
              generatePatchesExtension,
              ...(discoverVariablesExtension && { discoverVariablesExtension }),
            },
          },
        ],
      }),
    },
  },
  {
    apiVersion: version,
    kind: 'Cluster',
    metadata: { name: 'f1', namespace: 'default' },
    spec: {
      topology: {
        classRef: { name: 'lab' },
        version: 'v1.33.0',
        controlPlane: { replicas: 1 },
        workers: { machineDeployments: [{ class: 'any', name: 'md-0', replicas: 3 }] },
      },
    },
  },
];
