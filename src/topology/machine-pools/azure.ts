import { fieldAt, type JsonObject, nameOf, objectAt } from '../../kubernetes/index.ts';
import { portion } from '../world/portion.ts';
import {
  all,
  fixedWithDefault,
  type MachinePoolKind,
  onceSet,
  type PoolChange,
  upgradedVersion,
  written,
} from './kind.ts';

const strategyOf = (pool: JsonObject) => objectAt(pool, 'spec', 'strategy', 'rollingUpdate');
const surgeOf = (pool: JsonObject, replicas: number) => portion(strategyOf(pool).maxSurge, replicas, Math.ceil, 1);

const hasImage = ({ after }: PoolChange) => fieldAt(after.infrastructure, 'spec', 'template', 'image') !== undefined;

const template = (...fields: readonly string[]) => fields.map((field) => `template.${field}`);

/**
 * As Cluster API's provider for Azure decides in v1.25 and v1.26, like the other kinds here. The scale set gets a new model if image, size or zones differ (HasModelChanges in azure/types.go), and with it all else, but
 * for networks; an instance is replaced if its image differs (hasLatestModelApplied in azure/scope/machinepoolmachine.go). A new
 * model raises the capacity by maxSurge, and as many instances are deleted then (existingParameters in
 * azure/services/scalesets/spec.go, SelectMachinesToDelete). Without an image, it follows from the version (GetVMImage).
 */
const azureMachinePool: MachinePoolKind = {
  kind: 'AzureMachinePool',
  fields: {
    object: {
      ...all((change) => (hasImage(change) ? 'ignored' : 'replaces'), 'template.spec.version'),
      ...all('newInstances', 'template.spec.bootstrap'),
      ...all('replacesSurge', 'failureDomains'),
    },
    bootstrap: { '': 'newInstances' },
    infrastructure: {
      ...written,
      ...all('replaces', ...template('image')),
      ...all('replacesSurge', ...template('vmSize')),
      ...all('newInstances', ...template('osDisk', 'dataDisks', 'sshPublicKey', 'additionalCapabilities')),
      ...all('newInstances', ...template('diagnostics', 'terminateNotificationTimeout', 'securityProfile')),
      ...all('newInstances', ...template('spotVMOptions', 'vmExtensions'), 'additionalTags', 'identity'),
      ...all('newInstances', 'userAssignedIdentities', 'platformFaultDomainCount', 'zoneBalance'),
      ...all('ignored', ...template('networkInterfaces', 'subnetName', 'acceleratedNetworking')),
      ...all('inPlace', 'strategy'),
      ...onceSet('newInstances', 'template.disableVMBootstrapExtension'),
    },
  },
  surge: surgeOf,
  manner(pool, replicas) {
    const { maxUnavailable } = strategyOf(pool);
    return `new instances come first (maxSurge ${surgeOf(pool, replicas)}, maxUnavailable ${portion(maxUnavailable, replicas, Math.floor, 0)})`;
  },
};

/** Its webhook refuses changes of these (ValidateUpdate in internal/webhooks/azuremanagedmachinepool_webhook.go). */
const immutable = [
  ...['sku', 'osDiskSizeGB', 'osDiskType', 'availabilityZones', 'maxPods', 'scaleSetPriority'],
  ...['enableUltraSSD', 'enableNodePublicIP', 'nodePublicIPPrefixID', 'kubeletConfig', 'kubeletDiskType'],
  ...['linuxOSConfig'],
];
const upgrade = () => 'AKS upgrades the nodes, by the upgrade settings of the agent pool';

/** All but scaling is sent to AKS as it is (Parameters in azure/services/agentpools/spec.go). */
const azureManagedMachinePool: MachinePoolKind = {
  kind: 'AzureManagedMachinePool',
  service: 'AKS',
  fields: {
    object: { ...upgradedVersion, ...all('ignored', 'template.spec.bootstrap') },
    bootstrap: { '': 'ignored' },
    infrastructure: {
      ...written,
      ...all('inPlace', 'scaling'),
      ...all('refused', ...immutable),
      ...fixedWithDefault('name', nameOf),
      ...fixedWithDefault('osType', () => 'Linux'),
      ...onceSet('service', 'subnetName', 'enableFIPS', 'enableEncryptionAtHost'),
      ...all('service', 'mode', 'nodeLabels', 'taints', 'additionalTags', 'scaleDownMode', 'spotMaxPrice'),
      ...all('service', 'asoManagedClustersAgentPoolPatches'),
    },
  },
  manner: upgrade,
};

/** Its `resources` are applied, with the version and the replicas of the MachinePool (pkg/mutators/azureasomanagedmachinepool.go). */
const azureAsoManagedMachinePool: MachinePoolKind = {
  kind: 'AzureASOManagedMachinePool',
  service: 'AKS',
  fields: {
    object: { ...upgradedVersion, ...all('ignored', 'template.spec.bootstrap') },
    bootstrap: { '': 'ignored' },
    infrastructure: { ...written, ...all('service', 'resources') },
  },
  manner: upgrade,
};

export const azure: readonly MachinePoolKind[] = [
  azureMachinePool,
  azureManagedMachinePool,
  azureAsoManagedMachinePool,
];
