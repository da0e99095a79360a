import {
  isJsonObject,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { parseVersion } from '../../runtimehooks/index.ts';
import type { Arrivals, KindWithoutMachines } from './kind.ts';
import { differs, isOther, isRemoved, type Refuses, refusal, refusesAll, withDefault } from './refused-changes.ts';

// Control planes that run in Pods of the management cluster, or in the service of a cloud. What the service itself refuses is
// not known here, nor what webhooks refuse of any object, whatever it was before.

const service = (group: 'controlplane' | 'infrastructure', kind: string, on: string) =>
  ({
    group: `${group}.cluster.x-k8s.io`,
    kind,
    hasMachines: false,
    arrivals: (): Arrivals => [{ path: ['spec'], on: [on] }],
  }) as const;

const numbersOf = (version: Json | undefined) => parseVersion(String(version))?.numbers;

/** ClusterSpec of k0sproject/k0smotron, v2.0 and v2.1: ValidateClusterSpecUpdate in api/k0smotron.io/v1beta2/k0smotroncluster_webhook.go. */
const k0smotron: KindWithoutMachines = {
  ...service('controlplane', 'K0smotronControlPlane', 'its Pods in the management cluster'),
  refusal(before, after, isStep) {
    const [old, wanted] = [before, after].map((object) => textAt(object, 'spec', 'version'));
    if (old !== wanted && (old === '' || wanted === '')) {
      return undefined;
    }
    return refusal({
      version: (from, to) => isStep && Number(numbersOf(to)?.[1]) - Number(numbersOf(from)?.[1]) > 1,
      replicas: (from = 1, to = 1) => textAt(after, 'spec', 'storage', 'type') === 'nats' && from !== to,
    })(before, after);
  },
};

/** The rules of the schema of clastix/cluster-api-control-plane-provider-kamaji, v0.19 and v0.20. */
const kamaji: KindWithoutMachines = {
  ...service('controlplane', 'KamajiControlPlane', 'its TenantControlPlane, whose Pods run in the management cluster'),
  refusal: refusal({
    'network.loadBalancerConfig.loadBalancerClass': isOther,
    'network.loadBalancerConfig': (before, after) =>
      isJsonObject(before) &&
      isJsonObject(after) &&
      (before.loadBalancerClass === undefined) !== (after.loadBalancerClass === undefined),
    dataStoreUsername: isOther,
  }),
};

/** Whether a version is below another one, as the webhook compares them: the minor alone, too. */
function isLowerInEks(before: Json | undefined, after: Json | undefined): boolean {
  const [old, wanted] = [numbersOf(before), numbersOf(after)];
  return old !== undefined && wanted !== undefined && (wanted[0] < old[0] || wanted[1] < old[1]);
}

/** ValidateUpdate in controlplane/eks of kubernetes-sigs/cluster-api-provider-aws, v2.10 and v2.11. */
const awsManaged: KindWithoutMachines = {
  ...service('controlplane', 'AWSManagedControlPlane', 'EKS, as far as the provider updates it there'),
  refusal: refusal({
    eksClusterName: withDefault((object) => `${namespaceOf(object)}_${nameOf(object).replaceAll('.', '_')}`),
    version: isLowerInEks,
    accessConfig: isRemoved,
    'accessConfig.authenticationMode': (before, after) =>
      (before === 'api' && after !== 'api' && after !== undefined) ||
      (before === 'api_and_config_map' && after === 'config_map'),
    region: differs,
    encryptionConfig: isRemoved,
    'encryptionConfig.provider': isOther,
    'network.vpc.ipv6': (before, after) => (before === undefined) !== (after === undefined),
  }),
};

/** The rules of the schema of ROSAControlPlane (controlplane/rosa, v2.10); `fips` and `trustPolicyExternalID` since v2.11. */
const rosa: KindWithoutMachines = {
  ...service('controlplane', 'ROSAControlPlane', 'ROSA, as far as the provider updates it there'),
  fillDefaults({ spec }) {
    Object.assign(objectAt(spec), { fips: 'Disabled', enableExternalAuthProviders: false, ...objectAt(spec) });
  },
  refusal: refusal(
    refusesAll(
      isOther,
      ...['rosaClusterName', 'domainPrefix', 'fips', 'oidcID', 'enableExternalAuthProviders', 'billingAccount'],
      ...['provisionShardID', 'trustPolicyExternalID'],
    ),
  ),
};

function isLower(before: Json | undefined, after: Json | undefined): boolean {
  const [old, wanted] = [numbersOf(before), numbersOf(after)];
  const index = old?.findIndex((number, at) => number !== wanted?.[at]) ?? -1;
  return old !== undefined && wanted !== undefined && index >= 0 && Number(wanted[index]) < Number(old[index]);
}

const removesAddon: Refuses = (before, after) => {
  const kept = new Set(objectsAt(after ?? null).map(({ name }) => name));
  return objectsAt(before ?? null).some(({ name }) => !kept.has(name));
};

const hasAad = (object: JsonObject): boolean => objectAt(object, 'spec').aadProfile !== undefined;

/** internal/api/v1beta1/azuremanagedcontrolplane_default.go */
function fillAzureDefaults({ metadata, spec }: JsonObject): void {
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

/** internal/webhooks/azuremanagedcontrolplane_webhook.go of kubernetes-sigs/cluster-api-provider-azure, v1.25 and v1.26. */
const azureManaged: KindWithoutMachines = {
  ...service('infrastructure', 'AzureManagedControlPlane', 'AKS, as far as the provider updates it there'),
  isInV1beta1: true,
  fillDefaults: fillAzureDefaults,
  refusal: refusal({
    ...refusesAll(
      differs,
      ...['subscriptionID', 'location', 'dnsServiceIP', 'networkPlugin', 'networkPolicy', 'networkDataplane'],
      ...['loadBalancerSKU', 'httpProxyConfig', 'azureEnvironment', 'outboundType'],
      ...['enablePrivateCluster', 'privateDNSZone', 'enablePrivateClusterPublicFQDN'].map(
        (field) => `apiServerAccessProfile.${field}`,
      ),
    ),
    ...refusesAll(
      isOther,
      ...['resourceGroupName', 'nodeResourceGroupName', 'sshPublicKey', 'dnsPrefix', 'fleetsMember.name'],
      ...['name', 'cidrBlock', 'subnet.name', 'subnet.cidrBlock', 'resourceGroup'].map(
        (field) => `virtualNetwork.${field}`,
      ),
    ),
    ...refusesAll(
      isRemoved,
      ...['aadProfile', 'autoUpgradeProfile.upgradeChannel'],
      ...['azureKeyVaultKms', 'workloadIdentity', 'imageCleaner', 'defender'].map(
        (field) => `securityProfile.${field}`,
      ),
    ),
    addonProfiles: removesAddon,
    networkPluginMode: (before, after, objects) =>
      before !== after && after === 'overlay' && textAt(objects.before, 'spec', 'networkPolicy') !== '',
    'aadProfile.managed': (before, after) => before === true && after !== true,
    disableLocalAccounts: (before, after, objects) =>
      before !== after && (before !== undefined || !hasAad(objects.after)),
    'oidcIssuerProfile.enabled': (before, after) => before === true && after === false,
    version: isLower,
  }),
};

/** Azure Service Operator writes the resources that it lists to AKS; its webhook takes every update (v1.25 and v1.26). */
const azureAsoManaged: KindWithoutMachines = service(
  'infrastructure',
  'AzureASOManagedControlPlane',
  'its resources of Azure Service Operator',
);

const refusedByAutopilot: Refuses = (before, after, objects) =>
  before !== after && after !== undefined && objectAt(objects.before, 'spec').enableAutopilot === true;

/** ValidateUpdate of the webhook of kubernetes-sigs/cluster-api-provider-gcp, v1.11 (exp/api/v1beta1) and v1.12 (exp/webhooks). */
const gcpManaged: KindWithoutMachines = {
  ...service('infrastructure', 'GCPManagedControlPlane', 'GKE, as far as the provider updates it there'),
  refusal: refusal({
    clusterName: withDefault((object) => `${namespaceOf(object)}-${nameOf(object).replaceAll('.', '-')}`),
    ...refusesAll(differs, 'project', 'location'),
    enableAutopilot: (before = false, after = false) => before !== after,
    ...refusesAll(refusedByAutopilot, 'loggingService', 'monitoringService'),
    controlPlaneVersion: (before, after, objects) =>
      before !== after && after !== undefined && textAt(objects.before, 'spec', 'version') !== '',
  }),
};

const updatedInOke = [
  ...['version', 'imagePolicyConfig', 'clusterType', 'addons'].map((field) => [field]),
  ...['admissionControllerOptions', 'openIdConnectDiscovery', 'openIdConnectTokenAuthenticationConfig'].map((field) => [
    'clusterOptions',
    field,
  ]),
];
const keptInOke = [['id'], ['clusterPodNetworkOptions'], ['kmsKeyId'], ['clusterOptions', 'addOnOptions']];

/** cloud/scope/managed_control_plane.go of oracle/cluster-api-provider-oci, v0.23. Its webhook takes every update. */
const ociManaged: KindWithoutMachines = {
  ...service('infrastructure', 'OCIManagedControlPlane', 'OKE'),
  arrivals: () => [
    ...updatedInOke.map((path) => ({ path: ['spec', ...path], on: ['OKE'] })),
    ...keptInOke.map((path) => ({ path: ['spec', ...path], on: ['new clusters of OKE only'] })),
  ],
};

export const services: readonly KindWithoutMachines[] = [
  ...[k0smotron, kamaji, awsManaged, rosa, azureManaged, azureAsoManaged, gcpManaged, ociManaged],
];
