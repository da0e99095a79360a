import { fieldAt, type JsonObject, nameOf, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { portion } from '../world/objects.ts';
import {
  all,
  type Effect,
  fixedWithDefault,
  type MachinePoolKind,
  onceSet,
  type PoolChange,
  type Rule,
  upgradedVersion,
} from './kind.ts';

// Facts of the providers for AWS (v2.10, v2.11), Azure (v1.25, v1.26), GCP (v1.11, v1.12; GCPMachinePool: v1.12) and OCI (v0.23,
// v0.24), and of Cluster API's own for Docker (v1.13, v1.14): paths are of their repositories.

const at = (parent: string, ...fields: readonly string[]) => fields.map((field) => `${parent}.${field}`);

/** LaunchTemplateNeedsUpdate in pkg/cloud/services/ec2/launchtemplate.go compares these, and the AMI. */
const compared = at(
  'awsLaunchTemplate',
  ...['iamInstanceProfile', 'instanceType', 'instanceMetadataOptions', 'spotMarketOptions', 'capacityReservationId'],
  ...['privateDnsName', 'sshKeyName', 'additionalSecurityGroups', 'ami'],
);
const lookups = at('awsLaunchTemplate', 'imageLookupFormat', 'imageLookupOrg', 'imageLookupBaseOS');
/** They are in each new version of the launch template, and none is made for them. */
const uncompared = at(
  'awsLaunchTemplate',
  ...['rootVolume', 'nonRootVolumes', 'marketType', 'capacityReservationPreference'],
);

/** Without an AMI, it is looked up by the version (DiscoverLaunchTemplateAMI). */
const hasAmi = ({ after }: PoolChange) => textAt(after.infrastructure, 'spec', 'awsLaunchTemplate', 'ami', 'id') !== '';

/** A new version of the launch template starts an instance refresh, unless the pool disables it (reconcileNormal). */
const refresh = ({ after }: PoolChange): Effect =>
  fieldAt(after.infrastructure, 'spec', 'refreshPreferences', 'disable') === true ? 'newInstances' : 'replaces';
const refreshOfLookup: Rule = (change) => (hasAmi(change) ? 'ignored' : refresh(change));

/** ReconcileLaunchTemplate: user data alone makes a new version of the launch template, and no refresh; another Secret does. */
const awsMachinePool: MachinePoolKind = {
  kind: 'AWSMachinePool',
  version: refreshOfLookup,
  config: refresh,
  userData: 'newInstances',
  fields: {
    ...all(refresh, ...compared, 'additionalTags'),
    ...all(refreshOfLookup, ...lookups),
    ...all('newInstances', ...uncompared, 'subnets', 'availabilityZones', 'mixedInstancesPolicy', 'ignition'),
    ...all('inPlace', 'minSize', 'maxSize', 'capacityRebalance', 'defaultCoolDown', 'defaultInstanceWarmup'),
    ...all('inPlace', 'refreshPreferences', 'suspendProcesses', 'lifecycleHooks'),
  },
  manner(infrastructure) {
    const { minHealthyPercentage } = objectAt(infrastructure, 'spec', 'refreshPreferences');
    return `an instance refresh of the Auto Scaling group replaces instances while ${minHealthyPercentage ?? 90} % stay healthy (minHealthyPercentage)`;
  },
};

/** The major and the minor of a version, as one number: EKS has no others (parseEKSVersion). */
function minorOf(version: string): number {
  const [, major = 0, minor = 0] = /^v?(\d{1,3})\.(\d{1,4})/.exec(version) ?? [];
  return Number(major) * 10_000 + Number(minor);
}

const hasTemplate = ({ infrastructure }: PoolChange['after']) =>
  fieldAt(infrastructure, 'spec', 'awsLaunchTemplate') !== undefined;

/** Each new version of the launch template updates the node group (reconcileNodegroupVersion in eks/nodegroup.go). */
const ofTemplate: Rule = ({ after }) => (hasTemplate(after) ? 'replaces' : 'ignored');

/** None is added or removed later; what another field of it does is not known. */
const ofAddedTemplate: Rule = ({ before, after }) =>
  hasTemplate(before) && hasTemplate(after) ? undefined : 'refused';

const managedVersion: Rule = (change) => {
  const [before = 0, after = 0] = [change.before, change.after].map(({ object }) =>
    minorOf(textAt(object, 'spec', 'template', 'spec', 'version')),
  );
  // A node group without a version got that of the control plane, at some time.
  if (before === 0 && after !== 0 && !hasTemplate(change.after)) {
    return undefined;
  }
  return after > before || (hasTemplate(change.after) && !hasAmi(change)) ? 'replaces' : 'ignored';
};

/** What is refused: validateImmutable in exp/webhooks/awsmanagedmachinepool_webhook.go. */
const awsManagedMachinePool: MachinePoolKind = {
  kind: 'AWSManagedMachinePool',
  version: managedVersion,
  config: ofTemplate,
  userData: ofTemplate,
  fields: {
    ...all('replaces', 'amiVersion', ...compared),
    ...all((change) => (hasAmi(change) ? 'ignored' : 'replaces'), ...lookups),
    ...all(ofTemplate, 'additionalTags'),
    ...all('newInstances', ...uncompared),
    ...all('ignored', 'instanceType'),
    ...all('inPlace', 'labels', 'taints', 'scaling', 'updateConfig', 'nodeRepairConfig', 'lifecycleHooks'),
    ...all('inPlace', 'roleAdditionalPolicies'),
    ...all('refused', 'subnetIDs', 'roleName', 'diskSize', 'amiType', 'remoteAccess', 'capacityType'),
    ...all('refused', 'availabilityZones', 'availabilityZoneSubnetType', 'awsLaunchTemplate.name'),
    ...fixedWithDefault('eksNodegroupName', (pool) => `${namespaceOf(pool)}_${nameOf(pool).replaceAll('.', '_')}`),
    ...all(ofAddedTemplate, 'awsLaunchTemplate'),
  },
  manner(infrastructure) {
    const { maxUnavailable = 1, maxUnavailablePercentage } = objectAt(infrastructure, 'spec', 'updateConfig');
    const room =
      maxUnavailablePercentage === undefined
        ? `maxUnavailable ${maxUnavailable}`
        : `maxUnavailablePercentage ${maxUnavailablePercentage}`;
    return `EKS replaces the nodes of the node group (${room})`;
  },
};

/** A rule of the schema: it is set and removed, and not changed. */
const fixedBetweenValues = (field: string): Record<string, Rule> => ({
  [field]: ({ before, after }) =>
    [before, after].every(({ infrastructure }) => fieldAt(infrastructure, 'spec', field) !== undefined)
      ? 'refused'
      : 'service',
});

/** The version is that of its own spec, and all else one update (exp/controllers/rosamachinepool_controller.go). */
const rosaMachinePool: MachinePoolKind = {
  kind: 'ROSAMachinePool',
  service: 'ROSA',
  version: 'ignored',
  config: 'ignored',
  failureDomains: 'ignored',
  userData: 'ignored',
  fields: {
    ...all('replaces', 'version'),
    ...all('inPlace', 'autoscaling', 'updateConfig', 'nodeDrainGracePeriod', 'autoRepair'),
    ...all('service', 'labels', 'taints', 'instanceType', 'imageType', 'tuningConfigs', 'availabilityZone'),
    ...all('service', 'capacityReservationID'),
    ...all('refused', 'additionalTags', 'additionalSecurityGroups'),
    ...fixedBetweenValues('nodePoolName'),
    ...fixedBetweenValues('subnet'),
    ...fixedBetweenValues('volumeSize'),
  },
  manner(infrastructure) {
    const { maxSurge = 1, maxUnavailable = 0 } = objectAt(infrastructure, 'spec', 'updateConfig', 'rollingUpdate');
    return `ROSA upgrades the node pool (maxSurge ${maxSurge}, maxUnavailable ${maxUnavailable})`;
  },
};

const strategyOf = (pool: JsonObject) => objectAt(pool, 'spec', 'strategy', 'rollingUpdate');
const surgeOf = (pool: JsonObject, replicas: number) => portion(strategyOf(pool).maxSurge, replicas, Math.ceil, 1);

/** Without an image, it follows from the version (GetVMImage). */
const hasImage = ({ after }: PoolChange) => fieldAt(after.infrastructure, 'spec', 'template', 'image') !== undefined;

/**
 * The scale set gets a new model if image, size or zones differ (HasModelChanges in azure/types.go); an instance is replaced if
 * its image does (azure/scope/machinepoolmachine.go). A new model raises the capacity by maxSurge for a time.
 */
const azureMachinePool: MachinePoolKind = {
  kind: 'AzureMachinePool',
  version: (change) => (hasImage(change) ? 'ignored' : 'replaces'),
  config: 'newInstances',
  failureDomains: 'replacesSurge',
  userData: 'newInstances',
  fields: {
    ...all('replaces', 'template.image'),
    ...all('replacesSurge', 'template.vmSize'),
    ...all(
      'newInstances',
      ...at('template', 'osDisk', 'dataDisks', 'sshPublicKey', 'additionalCapabilities', 'diagnostics'),
      ...at('template', 'terminateNotificationTimeout', 'securityProfile', 'spotVMOptions', 'vmExtensions'),
      ...['additionalTags', 'identity', 'userAssignedIdentities', 'platformFaultDomainCount', 'zoneBalance'],
    ),
    ...all('ignored', ...at('template', 'networkInterfaces', 'subnetName', 'acceleratedNetworking')),
    ...all('inPlace', 'strategy'),
    ...onceSet('newInstances', 'template.disableVMBootstrapExtension'),
  },
  surge: surgeOf,
  manner(pool, replicas) {
    const { maxUnavailable } = strategyOf(pool);
    return `new instances come first (maxSurge ${surgeOf(pool, replicas)}, maxUnavailable ${portion(maxUnavailable, replicas, Math.floor, 0)})`;
  },
};

const upgraded = (service: string, poolOfService: string) =>
  ({
    service,
    version: upgradedVersion,
    config: 'ignored',
    userData: 'ignored',
    manner: () => `${service} upgrades the nodes, by the upgrade settings of the ${poolOfService}`,
  }) as const;

/** Sent to AKS as it is (azure/services/agentpools/spec.go), or refused (azuremanagedmachinepool_webhook.go). */
const azureManagedMachinePool: MachinePoolKind = {
  kind: 'AzureManagedMachinePool',
  ...upgraded('AKS', 'agent pool'),
  fields: {
    ...all('inPlace', 'scaling'),
    ...all('refused', 'sku', 'osDiskSizeGB', 'osDiskType', 'availabilityZones', 'maxPods', 'scaleSetPriority'),
    ...all('refused', 'enableUltraSSD', 'enableNodePublicIP', 'nodePublicIPPrefixID', 'kubeletConfig'),
    ...all('refused', 'kubeletDiskType', 'linuxOSConfig'),
    ...fixedWithDefault('name', nameOf),
    ...fixedWithDefault('osType', () => 'Linux'),
    ...onceSet('service', 'subnetName', 'enableFIPS', 'enableEncryptionAtHost'),
    ...all('service', 'mode', 'nodeLabels', 'taints', 'additionalTags', 'scaleDownMode', 'spotMaxPrice'),
    ...all('service', 'asoManagedClustersAgentPoolPatches'),
  },
};

/** Its `resources` are applied, with the version and the replicas of the MachinePool (pkg/mutators/azureasomanagedmachinepool.go). */
const azureAsoManagedMachinePool: MachinePoolKind = {
  kind: 'AzureASOManagedMachinePool',
  ...upgraded('AKS', 'agent pool'),
  fields: all('service', 'resources'),
};

/** Another instance template is made, without a policy for updates (cloud/services/compute). Zones are sent at creation. */
const gcpMachinePool: MachinePoolKind = {
  kind: 'GCPMachinePool',
  version: 'newInstances',
  config: 'newInstances',
  failureDomains: 'ignored',
  userData: 'newInstances',
  fields: all(
    'newInstances',
    ...['instanceType', 'subnet', 'imageFamily', 'image', 'additionalLabels', 'additionalMetadata', 'publicIP'],
    ...['additionalNetworkTags', 'resourceManagerTags', 'rootDeviceSize', 'rootDeviceType', 'additionalDisks'],
    ...['serviceAccounts', 'preemptible', 'ipForwarding', 'provisioningModel', 'shieldedInstanceConfig'],
    ...['onHostMaintenance', 'confidentialCompute', 'rootDiskEncryptionKey', 'guestAccelerators'],
  ),
};

/** One request with all that differs (cloud/services/container/nodepools/reconcile.go), or refused by its webhook. */
const gcpManagedMachinePool: MachinePoolKind = {
  kind: 'GCPManagedMachinePool',
  ...upgraded('GKE', 'node pool'),
  fields: {
    ...all('inPlace', 'scaling'),
    ...all('refused', 'instanceType', 'nodePoolName', 'machineType', 'diskSizeGb', 'diskType', 'localSsdCount'),
    ...all('refused', 'management', 'maxPodsPerNode', 'nodeSecurity', 'preemptible', 'spot'),
    ...all('refused', ...at('nodeNetwork', 'podRangeName', 'createPodRange', 'podRangeCidrBlock')),
    ...all('service', 'kubernetesLabels', 'kubernetesTaints', 'imageType', 'additionalLabels', 'nodeLocations'),
    ...all('service', 'nodeNetwork.tags', 'linuxNodeConfig'),
  },
};

/** Another instance configuration is made: instances stay (cloud/scope/machine_pool.go). Placements are sent at creation. */
const ociMachinePool: MachinePoolKind = {
  kind: 'OCIMachinePool',
  version: 'ignored',
  config: 'newInstances',
  failureDomains: 'ignored',
  userData: 'newInstances',
  fields: {
    ...all('inPlace', 'ocid', 'instanceConfiguration.instanceConfigurationId'),
    ...all('newInstances', 'instanceConfiguration'),
    ...all('ignored', 'placementDetails'),
  },
};

/** Nodes stay as they are, unless OKE cycles them (UpdateNodePool in cloud/scope/managed_machine_pool.go). */
const ofNodes: Rule = ({ after }) =>
  fieldAt(after.infrastructure, 'spec', 'nodePoolCyclingDetails', 'isNodeCyclingEnabled') === true
    ? 'service'
    : 'newInstances';

const ociManagedMachinePool: MachinePoolKind = {
  kind: 'OCIManagedMachinePool',
  service: 'OKE',
  version: 'ignored',
  config: 'ignored',
  failureDomains: 'ignored',
  userData: 'ignored',
  fields: {
    ...all('inPlace', 'id', 'nodePoolCyclingDetails', 'nodeEvictionNodePoolSettings'),
    ...all(ofNodes, 'version', 'nodeShape', 'nodeShapeConfig', 'nodeSourceViaImage', 'sshPublicKey', 'nodeMetadata'),
    ...all(ofNodes, 'initialNodeLabels'),
    ...all('service', 'nodePoolNodeConfig'),
  },
};

/** Outdated if the image is not that of the version, or the custom one (test/infrastructure/docker/internal/controllers). */
const containers = (kind: string, template: string): MachinePoolKind => ({
  kind,
  version: ({ after }) =>
    textAt(after.infrastructure, 'spec', ...template.split('.'), 'customImage') === '' ? 'replaces' : 'ignored',
  config: 'newInstances',
  userData: 'newInstances',
  fields: {
    ...all('replaces', ...at(template, 'customImage')),
    ...all('newInstances', ...at(template, 'preLoadImages', 'extraMounts')),
  },
  manner: () => 'all new Machines come first, then each of the old ones is deleted',
});

/** Of whose kinds it is known what they do with instances; the others are not known. */
export const machinePoolKinds: ReadonlyMap<string, MachinePoolKind> = new Map(
  [
    ...[awsMachinePool, awsManagedMachinePool, rosaMachinePool],
    ...[azureMachinePool, azureManagedMachinePool, azureAsoManagedMachinePool],
    ...[gcpMachinePool, gcpManagedMachinePool, ociMachinePool, ociManagedMachinePool],
    ...[containers('DockerMachinePool', 'template'), containers('DevMachinePool', 'backend.docker')],
  ].map((one) => [one.kind, one]),
);
