import { describe, expect, test } from 'vitest';
import { copyOf, type JsonObject } from '../../../src/kubernetes/index.ts';
import { controlPlaneOf } from '../../../src/topology/control-planes/index.ts';
import { plan, World } from '../../../src/topology/index.ts';
import { merged } from '../rollout/groups.ts';
import { judged, outcomeOf } from './judging.ts';

const group = 'controlplane.cluster.x-k8s.io';
const infrastructure = 'infrastructure.cluster.x-k8s.io';

const objectOf = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'cp', namespace: 'default' },
  spec,
});

const controlPlanes = {
  K0smotronControlPlane: objectOf(`${group}/v1beta2`, 'K0smotronControlPlane', {
    version: 'v1.33.2-k0s.0',
    replicas: 3,
    storage: { type: 'etcd' },
    service: { type: 'LoadBalancer' },
  }),
  KamajiControlPlane: objectOf(`${group}/v1alpha2`, 'KamajiControlPlane', {
    version: 'v1.33.2',
    replicas: 2,
    dataStoreUsername: 'a',
    network: { serviceType: 'LoadBalancer', loadBalancerConfig: { loadBalancerClass: 'a' } },
  }),
  AWSManagedControlPlane: objectOf(`${group}/v1beta2`, 'AWSManagedControlPlane', {
    eksClusterName: 'a',
    version: 'v1.33.0',
    region: 'eu-west-1',
    accessConfig: { authenticationMode: 'api' },
    encryptionConfig: { provider: 'a', resources: ['secrets'] },
  }),
  ROSAControlPlane: objectOf(`${group}/v1beta2`, 'ROSAControlPlane', {
    rosaClusterName: 'a',
    version: '4.19.1',
    region: 'eu-west-1',
    billingAccount: '123456789012',
  }),
  AzureManagedControlPlane: objectOf(`${infrastructure}/v1beta1`, 'AzureManagedControlPlane', {
    version: 'v1.33.2',
    location: 'westeurope',
    resourceGroupName: 'a',
    networkPolicy: 'calico',
    oidcIssuerProfile: { enabled: true },
    aadProfile: { managed: true, adminGroupObjectIDs: ['a'] },
    addonProfiles: [
      { name: 'a', enabled: true },
      { name: 'b', enabled: true },
    ],
    disableLocalAccounts: false,
    autoUpgradeProfile: { upgradeChannel: 'patch' },
    apiServerAccessProfile: { authorizedIPRanges: ['10.0.0.0/8'] },
    virtualNetwork: { name: 'a', subnet: { name: 'b' } },
    fleetsMember: { name: 'a' },
    securityProfile: { workloadIdentity: { enabled: true } },
  }),
  AzureASOManagedControlPlane: objectOf(`${infrastructure}/v1beta1`, 'AzureASOManagedControlPlane', {
    version: 'v1.33.2',
    resources: [{ kind: 'ManagedCluster' }],
  }),
  GCPManagedControlPlane: objectOf(`${infrastructure}/v1beta1`, 'GCPManagedControlPlane', {
    clusterName: 'a',
    project: 'a',
    location: 'a',
    enableAutopilot: true,
    version: '1.33',
  }),
  OCIManagedControlPlane: objectOf(`${infrastructure}/v1beta2`, 'OCIManagedControlPlane', {
    version: 'v1.33.1',
    clusterType: 'ENHANCED_CLUSTER',
  }),
};

type Kind = keyof typeof controlPlanes;

describe('control planes that have no Machines change in place', () => {
  test.each<[kind: Kind, spec: JsonObject, expected: string, manner: string]>([
    [
      'K0smotronControlPlane',
      { version: 'v1.34.1-k0s.0' },
      'inPlace: spec.version',
      'spec.version: written to its Pods in the management cluster',
    ],
    [
      'K0smotronControlPlane',
      { replicas: 5 },
      'inPlace: spec.replicas',
      'spec.replicas: written to its Pods in the management cluster',
    ],
    [
      'KamajiControlPlane',
      { version: 'v1.34.1', replicas: 3 },
      'inPlace: spec.version, spec.replicas',
      'spec.version and spec.replicas: written to its TenantControlPlane, whose Pods run in the management cluster',
    ],
    [
      'AWSManagedControlPlane',
      { version: 'v1.34.0' },
      'inPlace: spec.version',
      'spec.version: written to EKS, as far as the provider updates it there',
    ],
    [
      'ROSAControlPlane',
      { version: '4.20.0' },
      'inPlace: spec.version',
      'spec.version: written to ROSA, as far as the provider updates it there',
    ],
    [
      'AzureManagedControlPlane',
      { version: 'v1.34.1' },
      'inPlace: spec.version',
      'spec.version: written to AKS, as far as the provider updates it there',
    ],
    [
      'AzureASOManagedControlPlane',
      { resources: [] },
      'inPlace: spec.resources',
      'spec.resources: written to its resources of Azure Service Operator',
    ],
    [
      'GCPManagedControlPlane',
      { version: '1.34' },
      'inPlace: spec.version',
      'spec.version: written to GKE, as far as the provider updates it there',
    ],
    ['OCIManagedControlPlane', { version: 'v1.34.1' }, 'inPlace: spec.version', 'spec.version: written to OKE'],
    [
      'OCIManagedControlPlane',
      { kmsKeyId: 'a' },
      'inPlace: spec.kmsKeyId',
      'spec.kmsKeyId: written to new clusters of OKE only',
    ],
  ])('%s %j', async (kind, spec, expected, manner) => {
    const plan = await judged(controlPlanes[kind], { spec });
    expect([outcomeOf(plan), plan.manner, plan.machines]).toEqual([
      expected,
      [manner],
      { before: 0, after: 0, replaced: 0, inPlace: 0 },
    ]);
  });

  test.each(Object.keys(controlPlanes) as Kind[])('%s without a change', async (kind) => {
    expect(outcomeOf(await judged(controlPlanes[kind], {}))).toBe('unchanged');
  });
});

const refusalOf = (kind: Kind, spec: JsonObject) => {
  const before = controlPlanes[kind];
  return controlPlaneOf(before)?.refusal?.(before, merged(before, { spec }), true);
};

describe('what a provider refuses to change', () => {
  test.each<[kind: Kind, spec: JsonObject, fields: string | undefined]>([
    ['K0smotronControlPlane', { version: 'v1.35.0-k0s.0' }, 'spec.version'],
    ['K0smotronControlPlane', { storage: { type: 'nats' }, replicas: 5 }, 'spec.replicas'],
    ['K0smotronControlPlane', { storage: { type: 'nats' } }, undefined],
    ['K0smotronControlPlane', { version: null, replicas: 5 }, undefined],
    [
      'KamajiControlPlane',
      { network: { loadBalancerConfig: { loadBalancerClass: 'b' } } },
      'spec.network.loadBalancerConfig.loadBalancerClass',
    ],
    [
      'KamajiControlPlane',
      { network: { loadBalancerConfig: { loadBalancerClass: null } } },
      'spec.network.loadBalancerConfig',
    ],
    ['KamajiControlPlane', { dataStoreUsername: 'b' }, 'spec.dataStoreUsername'],
    ['KamajiControlPlane', { dataStoreUsername: null }, undefined],
    ['AWSManagedControlPlane', { region: 'eu-west-2' }, 'spec.region'],
    ['AWSManagedControlPlane', { eksClusterName: 'b' }, 'spec.eksClusterName'],
    ['AWSManagedControlPlane', { version: 'v1.32.9' }, 'spec.version'],
    ['AWSManagedControlPlane', { version: 'v1.33.9' }, undefined],
    [
      'AWSManagedControlPlane',
      { accessConfig: { authenticationMode: 'config_map' } },
      'spec.accessConfig.authenticationMode',
    ],
    ['AWSManagedControlPlane', { accessConfig: null }, 'spec.accessConfig'],
    ['AWSManagedControlPlane', { encryptionConfig: { provider: 'b' } }, 'spec.encryptionConfig.provider'],
    ['AWSManagedControlPlane', { encryptionConfig: { resources: [] } }, undefined],
    ['AWSManagedControlPlane', { network: { vpc: { ipv6: {} } } }, 'spec.network.vpc.ipv6'],
    ['ROSAControlPlane', { rosaClusterName: 'b', billingAccount: null }, 'spec.rosaClusterName'],
    ['AzureManagedControlPlane', { location: 'eastus' }, 'spec.location'],
    ['AzureManagedControlPlane', { networkPolicy: null }, 'spec.networkPolicy'],
    ['AzureManagedControlPlane', { outboundType: 'loadBalancer' }, 'spec.outboundType'],
    ['AzureManagedControlPlane', { outboundType: '' }, undefined],
    ['AzureManagedControlPlane', { disableLocalAccounts: true }, 'spec.disableLocalAccounts'],
    ['AzureManagedControlPlane', { virtualNetwork: { subnet: { name: 'c' } } }, 'spec.virtualNetwork.subnet.name'],
    ['AzureManagedControlPlane', { version: 'v1.33.1' }, 'spec.version'],
    ['AzureManagedControlPlane', { version: 'v1.33.10' }, undefined],
    [
      'AzureManagedControlPlane',
      { apiServerAccessProfile: { enablePrivateCluster: true } },
      'spec.apiServerAccessProfile.enablePrivateCluster',
    ],
    ['AzureManagedControlPlane', { apiServerAccessProfile: { authorizedIPRanges: [] } }, undefined],
    ['AzureManagedControlPlane', { oidcIssuerProfile: { enabled: false } }, 'spec.oidcIssuerProfile.enabled'],
    ['AzureManagedControlPlane', { oidcIssuerProfile: null }, undefined],
    ['AzureManagedControlPlane', { networkPluginMode: 'overlay' }, 'spec.networkPluginMode'],
    ['AzureManagedControlPlane', { addonProfiles: [{ name: 'a', enabled: false }] }, 'spec.addonProfiles'],
    ['AzureManagedControlPlane', { aadProfile: { managed: false } }, 'spec.aadProfile.managed'],
    ['AzureManagedControlPlane', { aadProfile: null }, 'spec.aadProfile, spec.aadProfile.managed'],
    ['AzureManagedControlPlane', { autoUpgradeProfile: null }, 'spec.autoUpgradeProfile.upgradeChannel'],
    ['AzureManagedControlPlane', { fleetsMember: { name: 'b' } }, 'spec.fleetsMember.name'],
    ['AzureManagedControlPlane', { securityProfile: null }, 'spec.securityProfile.workloadIdentity'],
    ['AzureASOManagedControlPlane', { version: 'v1.30.0' }, undefined],
    ['GCPManagedControlPlane', { enableAutopilot: false, location: 'b' }, 'spec.location, spec.enableAutopilot'],
    ['GCPManagedControlPlane', { loggingService: 'none' }, 'spec.loggingService'],
    ['GCPManagedControlPlane', { controlPlaneVersion: '1.33' }, 'spec.controlPlaneVersion'],
    ['GCPManagedControlPlane', { clusterName: null }, 'spec.clusterName'],
    ['OCIManagedControlPlane', { version: 'v1.30.0' }, undefined],
  ])('%s %j', (kind, spec, fields) => {
    expect(refusalOf(kind, spec)).toBe(fields && `the provider of ${kind} refuses this change of ${fields}`);
  });
});

test('defaults of the schema of ROSA', () => {
  const object = copyOf(controlPlanes.ROSAControlPlane);
  controlPlaneOf(object)?.fillDefaults?.(object);
  expect(object.spec).toMatchObject({ fips: 'Disabled', enableExternalAuthProviders: false });
});

describe('in the plan of a Cluster', () => {
  const clusterOf = (spec: JsonObject): JsonObject => ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'c', namespace: 'default' },
    spec,
  });
  const object = merged(controlPlanes.GCPManagedControlPlane, {
    metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'c' } },
    spec: { replicas: 3 },
  });
  const controlPlaneRef = { apiGroup: infrastructure, kind: 'GCPManagedControlPlane', name: 'cp' };
  const now = new Date('2026-06-01T00:00:00Z');
  const none = { before: 0, after: 0, replaced: 0, inPlace: 0 };

  test('it is in no number of Machines', async () => {
    const cluster = clusterOf({ controlPlaneRef });
    const wanted = merged(object, { spec: { version: '1.34', replicas: 5 } });
    const { clusters, sum } = await plan(new World([cluster, object]), new World([cluster, wanted]), { now });
    expect(clusters[0]?.groups).toMatchObject([{ verdict: 'inPlace', machines: none }]);
    expect(sum).toMatchObject({ machines: 0, replaced: 0, created: 0, inPlace: 0, unknown: 0 });
  });

  test('nor when it is refused', async () => {
    const cluster = clusterOf({ controlPlaneRef });
    const wanted = merged(object, { spec: { location: 'b' } });
    const { clusters, sum } = await plan(new World([cluster, object]), new World([cluster, wanted]), { now });
    expect(clusters[0]?.groups).toMatchObject([{ verdict: 'refused', machines: none }]);
    expect(sum).toMatchObject({ machines: 0, notApplied: 1 });
  });

  test.each([
    ['it exists', [object]],
    ['only its reference is known', []],
  ])('nor when nothing is known of the Cluster, and %s', async (_, objects) => {
    const cluster = clusterOf({ controlPlaneRef, topology: { classRef: { name: 'missing' }, version: 'v1.33.0' } });
    const wanted = merged(cluster, { spec: { topology: { version: 'v1.34.0' } } });
    const { clusters, sum } = await plan(new World([cluster, ...objects]), new World([wanted, ...objects]), { now });
    expect(clusters[0]?.groups).toMatchObject([{ verdict: 'unknown', machines: none }]);
    expect(sum).toMatchObject({ machines: 0, unknown: 0 });
  });
});

test('defaults of the webhook of AzureManagedControlPlane, with which a first value of a fixed field is another one', () => {
  const controlPlane = (spec: JsonObject) => {
    const object = objectOf(`${infrastructure}/v1beta1`, 'AzureManagedControlPlane', { location: 'a', ...spec });
    Object.assign(object.metadata as JsonObject, { labels: { 'cluster.x-k8s.io/cluster-name': 'c' } });
    const of = controlPlaneOf(object);
    of?.fillDefaults?.(object);
    return { object, of };
  };
  const { object: before, of } = controlPlane({});
  expect(before.spec).toMatchObject({
    resourceGroupName: 'c',
    nodeResourceGroupName: 'MC_c_cp_a',
    dnsPrefix: 'cp',
    sku: { tier: 'Free' },
    virtualNetwork: { name: 'cp', cidrBlock: '10.0.0.0/8', resourceGroup: 'c', subnet: { cidrBlock: '10.240.0.0/16' } },
  });
  expect(of?.refusal?.(before, controlPlane({ dnsPrefix: 'x' }).object, true)).toMatch(
    /this change of spec\.dnsPrefix$/,
  );
  expect(of?.refusal?.(before, controlPlane({ sku: { tier: 'Standard' } }).object, true)).toBeUndefined();
});

test.each([
  ['AWSManagedControlPlane', `${group}/v1beta2`, 'eksClusterName', 'default_cp'],
  ['GCPManagedControlPlane', `${infrastructure}/v1beta1`, 'clusterName', 'default-cp'],
])('the name that the webhook of %s sets stays', (kind, apiVersion, field, name) => {
  const before = objectOf(apiVersion, kind, {});
  const refusal = (value: string) =>
    controlPlaneOf(before)?.refusal?.(before, objectOf(apiVersion, kind, { [field]: value }), true);
  expect(refusal('a')).toMatch(`this change of spec.${field}`);
  expect(refusal(name)).toBeUndefined();
});
