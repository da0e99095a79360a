import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import { parseVersion } from '../../runtimehooks/index.ts';
import type { KindWithoutMachines } from './kind.ts';
import { isOther, isRemoved, type RefusedChange, refusedChanges } from './refused-changes.ts';

// Facts of kubernetes-sigs/cluster-api-provider-azure, v1.25 and v1.26: ValidateUpdate in
// internal/webhooks/azuremanagedcontrolplane_webhook.go with azuremanagedcontrolplane_validation.go, and ValidateImmutable in
// util/webhook/validator.go. What the webhook does not take of any object, whatever it was before, is not among them, nor what
// AKS itself refuses, nor the versions that AKS upgrades by itself.

const group = 'infrastructure.cluster.x-k8s.io';

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

/** AzureManagedControlPlane. */
export const azureManaged: KindWithoutMachines = {
  group,
  kind: 'AzureManagedControlPlane',
  hasMachines: false,
  arrivals: () => [{ path: ['spec'], on: ['AKS, as far as the provider updates it there'] }],
  refusal: refusedChanges('validation.azuremanagedcontrolplanes.infrastructure.cluster.x-k8s.io', group, [
    ...fixedFields,
    ...fixedWithDefaults,
    ...networkFields,
    {
      field: 'spec.apiServerAccessProfile',
      is: (before, after) => fixedAccess(before) !== fixedAccess(after),
      why: 'fields (except for AuthorizedIPRanges) are immutable',
    },
    { field: 'spec.aadProfile', is: isRemoved, why: 'field cannot be nil, cannot disable AADProfile' },
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
