import { isJsonObject, type Json, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { parseVersion } from '../../runtimehooks/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, isRemoved, type RefusedChange, refusedChanges } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-azure, v1.25 and v1.26: ValidateUpdate in
// internal/webhooks/azuremanagedcontrolplane_webhook.go with azuremanagedcontrolplane_validation.go, and ValidateImmutable in
// util/webhook/validator.go; defaults are in internal/api/v1beta1/azuremanagedcontrolplane_default.go. What the webhook does not take of any object, whatever it was before, is not among them, nor what
// AKS itself refuses, nor the versions that AKS upgrades by itself.

const immutable = (before: Json | undefined, after: Json | undefined): string =>
  before === undefined
    ? 'field is immutable, unable to assign a value if it was already empty'
    : after === undefined
      ? 'field is immutable, unable to set an empty value if it was already set'
      : 'field is immutable';

/** Fields that neither get a value later, nor another, nor lose it. */
const fixedFields: RefusedChange[] = [
  ...['subscriptionID', 'location', 'dnsServiceIP', 'networkPlugin', 'networkPolicy', 'networkDataplane'],
  ...['loadBalancerSKU', 'httpProxyConfig', 'azureEnvironment', 'outboundType'],
].map((field) => ({ field: `spec.${field}`, why: immutable }));

/** Those to which the webhook gives a value if they have none. */
const fixedWithDefaults: RefusedChange[] = [
  ...['resourceGroupName', 'nodeResourceGroupName', 'sshPublicKey', 'dnsPrefix'],
].map((field) => ({ field: `spec.${field}`, is: isOther, why: immutable }));

const networkFields: RefusedChange[] = [
  ['name', 'Virtual Network Name'],
  ['cidrBlock', 'Virtual Network CIDRBlock'],
  ['subnet.name', 'Subnet Name'],
  ['subnet.cidrBlock', 'Subnet CIDRBlock'],
  ['resourceGroup', 'Virtual Network Resource Group'],
].map(([field, name]) => ({ field: `spec.virtualNetwork.${field}`, is: isOther, why: `${name} is immutable` }));

/** Profiles that are switched off, and not removed. */
const keptProfiles: RefusedChange[] = [
  [
    'azureKeyVaultKms',
    'AzureKeyVaultKms profile to disable the profile please set Spec.SecurityProfile.AzureKeyVaultKms',
  ],
  [
    'workloadIdentity',
    'WorkloadIdentity, to disable workloadIdentity please set Spec.SecurityProfile.WorkloadIdentity',
  ],
  ['imageCleaner', 'ImageCleaner, to disable imageCleaner please set Spec.SecurityProfile.ImageCleaner'],
  ['defender', 'Defender, to disable defender please set Spec.SecurityProfile.Defender.SecurityMonitoring'],
].map(([field, words]) => ({
  field: `spec.securityProfile.${field}`,
  is: isRemoved,
  why: `cannot unset Spec.SecurityProfile.${words}.Enabled to false`,
}));

function isLower(before: Json | undefined, after: Json | undefined): boolean {
  const [old, wanted] = [before, after].map((version) => parseVersion(String(version))?.numbers);
  const index = old?.findIndex((number, at) => number !== wanted?.[at]) ?? -1;
  return old !== undefined && wanted !== undefined && index >= 0 && Number(wanted[index]) < Number(old[index]);
}

/** What of the access to the API server does not change. */
const fixedAccess = (profile: Json | undefined): string =>
  JSON.stringify(
    ['enablePrivateCluster', 'privateDNSZone', 'enablePrivateClusterPublicFQDN'].map(
      (field) => (isJsonObject(profile) ? profile[field] : undefined) ?? null,
    ),
  );

/** The profiles that are in a list no more: they are switched off, and not removed. */
const removedAddons = (before: Json | undefined, after: Json | undefined): string[] => {
  const kept = new Set(objectsAt(after ?? null).map(({ name }) => name));
  return objectsAt(before ?? null).flatMap(({ name }, index) =>
    kept.has(name)
      ? []
      : `cannot remove addonProfile ${name}, To disable this AddonProfile, update Spec.AddonProfiles[${index}].Enabled to false`,
  );
};

function fillDefaults({ metadata, spec }: JsonObject): void {
  if (!isJsonObject(spec)) {
    return;
  }
  const name = textAt(metadata, 'name');
  const resourceGroup =
    textAt(spec, 'resourceGroupName') || textAt(metadata, 'labels', 'cluster.x-k8s.io/cluster-name');
  const isOverlay = spec.networkPluginMode === 'overlay';
  const { subnet, ...network } = objectAt(spec, 'virtualNetwork');
  Object.assign(spec, {
    sku: { tier: 'Free' },
    oidcIssuerProfile: { enabled: false },
    dnsPrefix: name,
    nodeResourceGroupName: `MC_${resourceGroup}_${name}_${textAt(spec, 'location')}`,
    ...spec,
    resourceGroupName: resourceGroup,
    virtualNetwork: {
      name,
      cidrBlock: isOverlay ? '10.224.0.0/12' : '10.0.0.0/8',
      resourceGroup,
      ...network,
      subnet: { name, cidrBlock: isOverlay ? '10.224.0.0/16' : '10.240.0.0/16', ...objectAt(subnet) },
    },
  });
}

export const azureManaged: KindWithoutMachines = {
  group: 'infrastructure.cluster.x-k8s.io',
  kind: 'AzureManagedControlPlane',
  isInV1beta1: true,
  hasMachines: false,
  fillDefaults,
  arrivals: () => [{ path: ['spec'], on: ['AKS, as far as the provider updates it there'] }],
  refusal: refusedChanges('validation.azuremanagedcontrolplanes.infrastructure.cluster.x-k8s.io', [
    ...fixedFields,
    ...fixedWithDefaults,
    ...networkFields,
    {
      field: 'spec.apiServerAccessProfile',
      is: (before, after) => fixedAccess(before) !== fixedAccess(after),
      why: 'fields (except for AuthorizedIPRanges) are immutable',
    },
    { field: 'spec.addonProfiles', why: removedAddons },
    {
      field: 'spec.networkPluginMode',
      is: (_before, after, { before }) => after === 'overlay' && textAt(before, 'spec', 'networkPolicy') !== '',
      type: 'Forbidden',
      why: '"overlay" NetworkPluginMode cannot be enabled when NetworkPolicy is set',
    },
    { field: 'spec.aadProfile', is: isRemoved, why: 'field cannot be nil, cannot disable AADProfile' },
    {
      field: 'spec.aadProfile.managed',
      is: (before, _after, { after }) => before === true && objectAt(after, 'spec').aadProfile !== undefined,
      value: () => false,
      why: 'cannot set AADProfile.Managed to false',
    },
    {
      field: 'spec.disableLocalAccounts',
      isPointer: true,
      is: (before, after, objects) =>
        before === undefined && after !== undefined && objectAt(objects.after, 'spec').aadProfile === undefined,
      why: 'DisableLocalAccounts can be set only for AAD enabled clusters',
    },
    {
      field: 'spec.oidcIssuerProfile.enabled',
      isPointer: true,
      is: (before, after) => before === true && after === false,
      type: 'Forbidden',
      why: 'cannot be disabled',
    },
    {
      field: 'spec.autoUpgradeProfile.upgradeChannel',
      is: isRemoved,
      shown: 'Spec.AutoUpgradeProfile.UpgradeChannel',
      value: (_after, before) => before ?? null,
      why: 'field cannot be set to nil, to disable auto upgrades set the channel to none.',
    },
    { field: 'spec.version', is: isLower, why: 'field version cannot be downgraded' },
    {
      field: 'spec.disableLocalAccounts',
      isPointer: true,
      is: (before) => before !== undefined,
      // The webhook takes the new value for the old one.
      value: (_after, before) => before ?? null,
      why: (before, after) => immutable(after, before),
    },
    { field: 'spec.fleetsMember.name', is: isOther, type: 'Forbidden', why: 'Name is immutable' },
    ...keptProfiles,
  ]),
};
