import { fieldAt, nameOf, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import {
  all,
  type Effect,
  fixedWithDefault,
  type MachinePoolKind,
  type PoolChange,
  type Rule,
  written,
} from './kind.ts';

const template = (...fields: readonly string[]) => fields.map((field) => `awsLaunchTemplate.${field}`);

/**
 * The fields that LaunchTemplateNeedsUpdate compares (pkg/cloud/services/ec2/launchtemplate.go of the provider for AWS, v2.10
 * and v2.11, as all here), and the AMI.
 */
const compared = template(
  'iamInstanceProfile',
  'instanceType',
  'instanceMetadataOptions',
  'spotMarketOptions',
  'capacityReservationId',
  'privateDnsName',
  'sshKeyName',
  'additionalSecurityGroups',
  'ami',
);
const lookups = template('imageLookupFormat', 'imageLookupOrg', 'imageLookupBaseOS');
/** They are in each new version of the launch template, and none is made for them. */
const uncompared = template('rootVolume', 'nonRootVolumes', 'marketType', 'capacityReservationPreference');

/** Without an AMI, it is looked up by the version (DiscoverLaunchTemplateAMI). */
const hasAmi = ({ after }: PoolChange) => textAt(after.infrastructure, 'spec', 'awsLaunchTemplate', 'ami', 'id') !== '';

/** A new version of the launch template starts an instance refresh, unless the pool disables it (reconcileNormal). */
const refresh = ({ after }: PoolChange): Effect =>
  fieldAt(after.infrastructure, 'spec', 'refreshPreferences', 'disable') === true ? 'newInstances' : 'replaces';
const refreshOfLookup: Rule = (change) => (hasAmi(change) ? 'ignored' : refresh(change));

/**
 * ReconcileLaunchTemplate: a change of user data alone makes a new version of the launch template, and no refresh; another
 * Secret of it does.
 */
const awsMachinePool: MachinePoolKind = {
  kind: 'AWSMachinePool',
  fields: {
    object: {
      ...all(refreshOfLookup, 'template.spec.version'),
      ...all(refresh, 'template.spec.bootstrap'),
    },
    bootstrap: { '': 'newInstances' },
    infrastructure: {
      ...written,
      ...all(refresh, ...compared, 'additionalTags'),
      ...all(refreshOfLookup, ...lookups),
      ...all('newInstances', ...uncompared, 'subnets', 'availabilityZones', 'mixedInstancesPolicy', 'ignition'),
      ...all('inPlace', 'minSize', 'maxSize', 'capacityRebalance', 'defaultCoolDown', 'defaultInstanceWarmup'),
      ...all('inPlace', 'refreshPreferences', 'suspendProcesses', 'lifecycleHooks'),
    },
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

const hasTemplate = ({ after }: PoolChange) => fieldAt(after.infrastructure, 'spec', 'awsLaunchTemplate') !== undefined;

/** Each new version of the launch template updates the node group (reconcileNodegroupVersion in eks/nodegroup.go). */
const ofTemplate: Rule = (change) => (hasTemplate(change) ? 'replaces' : 'ignored');

/** None is added or removed later; what another field of it does is not known. */
const ofAddedTemplate: Rule = ({ before, after }) =>
  [before, after].every(({ infrastructure }) => fieldAt(infrastructure, 'spec', 'awsLaunchTemplate') !== undefined)
    ? undefined
    : 'refused';

const managedVersion: Rule = (change) => {
  const [before, after] = [change.before, change.after].map(({ object }) =>
    minorOf(textAt(object, 'spec', 'template', 'spec', 'version')),
  );
  // A node group without a version got that of the control plane, at some time.
  if (before === 0 && after !== 0 && !hasTemplate(change)) {
    return undefined;
  }
  return Number(after) > Number(before) || (hasTemplate(change) && !hasAmi(change)) ? 'replaces' : 'ignored';
};

/** Its webhook refuses changes of these (validateImmutable in exp/webhooks/awsmanagedmachinepool_webhook.go). */
const immutable = ['subnetIDs', 'roleName', 'diskSize', 'amiType', 'remoteAccess', 'capacityType'];
const immutableZones = ['availabilityZones', 'availabilityZoneSubnetType', 'awsLaunchTemplate.name'];

const awsManagedMachinePool: MachinePoolKind = {
  kind: 'AWSManagedMachinePool',
  fields: {
    object: { ...all(managedVersion, 'template.spec.version'), ...all(ofTemplate, 'template.spec.bootstrap') },
    bootstrap: { '': ofTemplate },
    infrastructure: {
      ...written,
      ...all('replaces', 'amiVersion', ...compared),
      ...all((change) => (hasAmi(change) ? 'ignored' : 'replaces'), ...lookups),
      ...all(ofTemplate, 'additionalTags'),
      ...all('newInstances', ...uncompared),
      ...all('ignored', 'instanceType'),
      ...all('inPlace', 'labels', 'taints', 'scaling', 'updateConfig', 'nodeRepairConfig', 'lifecycleHooks'),
      ...all('inPlace', 'roleAdditionalPolicies'),
      ...all('refused', ...immutable, ...immutableZones),
      ...fixedWithDefault('eksNodegroupName', (pool) => `${namespaceOf(pool)}_${nameOf(pool).replaceAll('.', '_')}`),
      ...all(ofAddedTemplate, 'awsLaunchTemplate'),
    },
  },
  manner: (infrastructure) => {
    const { maxUnavailable, maxUnavailablePercentage } = objectAt(infrastructure, 'spec', 'updateConfig');
    const room =
      maxUnavailablePercentage === undefined
        ? `maxUnavailable ${maxUnavailable ?? 1}`
        : `maxUnavailablePercentage ${maxUnavailablePercentage}`;
    return `EKS replaces the nodes of the node group (${room})`;
  },
};

/** A rule of the schema: it is set and removed, and not changed. */
const fixedBetweenValues: Record<string, Rule> = Object.fromEntries(
  ['nodePoolName', 'subnet', 'volumeSize'].map((field) => [
    `spec.${field}`,
    ({ before, after }: PoolChange) =>
      [before, after].every(({ infrastructure }) => fieldAt(infrastructure, 'spec', field) !== undefined)
        ? 'refused'
        : 'service',
  ]),
);

/**
 * The version is that of its own spec, and all else that differs is one update (reconcileMachinePoolVersion and updateNodePool in
 * exp/controllers/rosamachinepool_controller.go). What is refused, its webhook and the rules of its schema refuse.
 */
const rosaMachinePool: MachinePoolKind = {
  kind: 'ROSAMachinePool',
  service: 'ROSA',
  fields: {
    object: { ...all('ignored', 'template.spec.version', 'template.spec.bootstrap', 'failureDomains') },
    bootstrap: { '': 'ignored' },
    infrastructure: {
      ...written,
      ...all('replaces', 'version'),
      ...all('inPlace', 'autoscaling', 'updateConfig', 'nodeDrainGracePeriod', 'autoRepair'),
      ...all('service', 'labels', 'taints', 'instanceType', 'imageType', 'tuningConfigs'),
      ...all('service', 'availabilityZone', 'capacityReservationID'),
      ...all('refused', 'additionalTags', 'additionalSecurityGroups'),
      ...fixedBetweenValues,
    },
  },
  manner(infrastructure) {
    const { maxSurge = 1, maxUnavailable = 0 } = objectAt(infrastructure, 'spec', 'updateConfig', 'rollingUpdate');
    return `ROSA upgrades the node pool (maxSurge ${maxSurge}, maxUnavailable ${maxUnavailable})`;
  },
};

export const aws: readonly MachinePoolKind[] = [awsMachinePool, awsManagedMachinePool, rosaMachinePool];
