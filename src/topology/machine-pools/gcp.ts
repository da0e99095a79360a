import { all, type MachinePoolKind, written } from './kind.ts';

/** Its webhook refuses changes of these (ValidateUpdate in its webhook, v1.11 and v1.12). */
const immutable = [
  ...['instanceType', 'nodePoolName', 'machineType', 'diskSizeGb', 'diskType', 'localSsdCount', 'management'],
  ...['maxPodsPerNode', 'nodeSecurity'],
  ...['podRangeName', 'createPodRange', 'podRangeCidrBlock'].map((field) => `nodeNetwork.${field}`),
];

/** One request with all that differs (checkDiffAndPrepareUpdateConfig in cloud/services/container/nodepools/reconcile.go). */
export const gcp: readonly MachinePoolKind[] = [
  {
    kind: 'GCPManagedMachinePool',
    service: 'GKE',
    fields: {
      object: { ...all('replaces', 'template.spec.version'), ...all('ignored', 'template.spec.bootstrap') },
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
