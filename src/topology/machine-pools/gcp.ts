import { all, type MachinePoolKind, upgradedVersion, written } from './kind.ts';

/** Its webhook refuses changes of these (ValidateUpdate in its webhook, v1.11 and v1.12). */
const immutable = [
  ...['instanceType', 'nodePoolName', 'machineType', 'diskSizeGb', 'diskType', 'localSsdCount', 'management'],
  ...['maxPodsPerNode', 'nodeSecurity', 'preemptible', 'spot'],
  ...['podRangeName', 'createPodRange', 'podRangeCidrBlock'].map((field) => `nodeNetwork.${field}`),
];

/**
 * Another instance template is made, and the group of instances refers to it, without a policy for updates: instances stay
 * (cloud/services/compute of v1.12, the first with the kind). Zones are sent when the group is created.
 */
const gcpMachinePool: MachinePoolKind = {
  kind: 'GCPMachinePool',
  fields: {
    object: {
      ...all('newInstances', 'template.spec.version', 'template.spec.bootstrap'),
      ...all('ignored', 'failureDomains'),
    },
    bootstrap: { '': 'newInstances' },
    infrastructure: {
      ...written,
      ...all(
        'newInstances',
        'instanceType',
        'subnet',
        'imageFamily',
        'image',
        'additionalLabels',
        'additionalMetadata',
      ),
      ...all('newInstances', 'publicIP', 'additionalNetworkTags', 'resourceManagerTags', 'rootDeviceSize'),
      ...all('newInstances', 'rootDeviceType', 'additionalDisks', 'serviceAccounts', 'preemptible', 'ipForwarding'),
      ...all('newInstances', 'provisioningModel', 'shieldedInstanceConfig', 'onHostMaintenance'),
      ...all('newInstances', 'confidentialCompute', 'rootDiskEncryptionKey', 'guestAccelerators'),
    },
  },
};

/** One request with all that differs (checkDiffAndPrepareUpdateConfig in cloud/services/container/nodepools/reconcile.go). */
export const gcp: readonly MachinePoolKind[] = [
  gcpMachinePool,
  {
    kind: 'GCPManagedMachinePool',
    service: 'GKE',
    fields: {
      object: { ...upgradedVersion, ...all('ignored', 'template.spec.bootstrap') },
      bootstrap: { '': 'ignored' },
      infrastructure: {
        ...written,
        ...all('inPlace', 'scaling'),
        ...all('refused', ...immutable),
        ...all('service', 'kubernetesLabels', 'kubernetesTaints', 'imageType', 'additionalLabels', 'nodeLocations'),
        ...all('service', 'nodeNetwork.tags', 'linuxNodeConfig'),
      },
    },
    manner: () => 'GKE upgrades the nodes, by the upgrade settings of the node pool',
  },
];
