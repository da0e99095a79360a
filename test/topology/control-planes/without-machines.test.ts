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

/** The reasons of a refusal, without the webhook and the object. */
const reasonsOf = (refusal: string | undefined) => refusal?.replace(/^.*(denied the request|is invalid): /, '');

describe('what a provider refuses to change', () => {
  const fixed = 'field is immutable';
  test.each<[kind: Kind, spec: JsonObject, expected: string | undefined]>([
    [
      'K0smotronControlPlane',
      { version: 'v1.35.0-k0s.0' },
      'upgrading more than one minor version at a time is not allowed by the Kubernetes skew policy',
    ],
    [
      'K0smotronControlPlane',
      { storage: { type: 'nats' }, replicas: 5 },
      'NATS storage does not support scaling, replicas cannot be changed from 3 to 5. Please back up your data, update NATS cluster configuration, and recreate your cluster',
    ],
    ['K0smotronControlPlane', { version: null, replicas: 5 }, undefined],
    [
      'KamajiControlPlane',
      { network: { loadBalancerConfig: { loadBalancerClass: 'b' } } },
      'spec.network.loadBalancerConfig.loadBalancerClass: Invalid value: "b": LoadBalancerClass is immutable',
    ],
    [
      'KamajiControlPlane',
      { network: { loadBalancerConfig: { loadBalancerClass: null } } },
      'spec.network.loadBalancerConfig: Invalid value: {}: LoadBalancerClass cannot be set or unset at runtime',
    ],
    [
      'KamajiControlPlane',
      { dataStoreUsername: 'b' },
      'spec.dataStoreUsername: Invalid value: "b": changing the dataStoreUsername is not supported',
    ],
    ['KamajiControlPlane', { dataStoreUsername: null }, undefined],
    ['AWSManagedControlPlane', { region: 'eu-west-2' }, `spec.region: Invalid value: "eu-west-2": ${fixed}`],
    [
      'AWSManagedControlPlane',
      { eksClusterName: 'b' },
      'spec.eksClusterName: Invalid value: "b": eksClusterName is different to current cluster name',
    ],
    [
      'AWSManagedControlPlane',
      { version: 'v1.32.9' },
      'spec.version: Invalid value: "v1.32.9": new version less than old version',
    ],
    ['AWSManagedControlPlane', { version: 'v1.33.9' }, undefined],
    [
      'AWSManagedControlPlane',
      { accessConfig: { authenticationMode: 'config_map' } },
      'spec.accessConfig.authenticationMode: Invalid value: "config_map": downgrading authentication mode is not allowed after it has been enabled',
    ],
    [
      'AWSManagedControlPlane',
      { accessConfig: null },
      'spec.accessConfig: Invalid value: null: removing AccessConfig is not allowed after it has been enabled',
    ],
    [
      'AWSManagedControlPlane',
      { encryptionConfig: { provider: 'b' } },
      'spec.encryptionConfig.provider: Invalid value: "b": changing EKS encryption is not allowed after it has been enabled',
    ],
    [
      'AWSManagedControlPlane',
      { network: { vpc: { ipv6: {} } } },
      'spec.network.vpc.enableIPv6: Invalid value: true: changing IP family is not allowed after it has been set',
    ],
    [
      'ROSAControlPlane',
      { rosaClusterName: 'b', billingAccount: null },
      'spec.rosaClusterName: Invalid value: "b": rosaClusterName is immutable',
    ],
    ['AzureManagedControlPlane', { location: 'eastus' }, `spec.location: Invalid value: "eastus": ${fixed}`],
    [
      'AzureManagedControlPlane',
      { networkPolicy: null },
      `spec.networkPolicy: Invalid value: null: ${fixed}, unable to set an empty value if it was already set`,
    ],
    [
      'AzureManagedControlPlane',
      { outboundType: 'loadBalancer' },
      `spec.outboundType: Invalid value: "loadBalancer": ${fixed}, unable to assign a value if it was already empty`,
    ],
    [
      'AzureManagedControlPlane',
      { disableLocalAccounts: true },
      `spec.disableLocalAccounts: Invalid value: false: ${fixed}`,
    ],
    [
      'AzureManagedControlPlane',
      { virtualNetwork: { subnet: { name: 'c' } } },
      'spec.virtualNetwork.subnet.name: Invalid value: "c": Subnet Name is immutable',
    ],
    [
      'AzureManagedControlPlane',
      { version: 'v1.33.1' },
      'spec.version: Invalid value: "v1.33.1": field version cannot be downgraded',
    ],
    [
      'AzureManagedControlPlane',
      { apiServerAccessProfile: { enablePrivateCluster: true } },
      'spec.apiServerAccessProfile: Invalid value: {"authorizedIPRanges":["10.0.0.0/8"],"enablePrivateCluster":true}: fields (except for AuthorizedIPRanges) are immutable',
    ],
    ['AzureManagedControlPlane', { apiServerAccessProfile: { authorizedIPRanges: [] } }, undefined],
    [
      'AzureManagedControlPlane',
      { oidcIssuerProfile: { enabled: false } },
      'spec.oidcIssuerProfile.enabled: Forbidden: cannot be disabled',
    ],
    ['AzureManagedControlPlane', { oidcIssuerProfile: null }, undefined],
    [
      'AzureManagedControlPlane',
      { networkPluginMode: 'overlay' },
      'spec.networkPluginMode: Forbidden: "overlay" NetworkPluginMode cannot be enabled when NetworkPolicy is set',
    ],
    [
      'AzureManagedControlPlane',
      { addonProfiles: [{ name: 'a', enabled: false }] },
      'spec.addonProfiles: Invalid value: [{"name":"a","enabled":false}]: cannot remove addonProfile b, To disable this AddonProfile, update Spec.AddonProfiles[1].Enabled to false',
    ],
    [
      'AzureManagedControlPlane',
      { aadProfile: { managed: false } },
      'spec.aadProfile.managed: Invalid value: false: cannot set AADProfile.Managed to false',
    ],
    [
      'AzureManagedControlPlane',
      { aadProfile: null },
      'spec.aadProfile: Invalid value: null: field cannot be nil, cannot disable AADProfile',
    ],
    [
      'AzureManagedControlPlane',
      { autoUpgradeProfile: null },
      'Spec.AutoUpgradeProfile.UpgradeChannel: Invalid value: "patch": field cannot be set to nil, to disable auto upgrades set the channel to none.',
    ],
    [
      'AzureManagedControlPlane',
      { fleetsMember: { name: 'b' } },
      'spec.fleetsMember.name: Forbidden: Name is immutable',
    ],
    [
      'AzureManagedControlPlane',
      { securityProfile: null },
      'spec.securityProfile.workloadIdentity: Invalid value: null: cannot unset Spec.SecurityProfile.WorkloadIdentity, to disable workloadIdentity please set Spec.SecurityProfile.WorkloadIdentity.Enabled to false',
    ],
    ['AzureASOManagedControlPlane', { version: 'v1.30.0' }, undefined],
    [
      'GCPManagedControlPlane',
      { enableAutopilot: false, location: 'b' },
      `[spec.Location: Invalid value: "b": ${fixed}, spec.EnableAutopilot: Invalid value: false: ${fixed}]`,
    ],
    [
      'GCPManagedControlPlane',
      { loggingService: 'none' },
      'spec.LoggingService: Invalid value: "none": can\'t be set when autopilot is enabled',
    ],
    ['GCPManagedControlPlane', { clusterName: null }, `spec.ClusterName: Invalid value: "default-cp": ${fixed}`],
    ['OCIManagedControlPlane', { version: 'v1.30.0' }, undefined],
  ])('%s %j', (kind, spec, expected) => {
    const before = controlPlanes[kind];
    const refusal = controlPlaneOf(before)?.refusal?.(before, merged(before, { spec }), true);
    expect(reasonsOf(refusal)).toBe(expected);
  });

  test('in whose words: a webhook, or the API server', () => {
    const refusalOf = (kind: Kind, spec: JsonObject) => {
      const before = controlPlanes[kind];
      return controlPlaneOf(before)?.refusal?.(before, merged(before, { spec }), true);
    };
    expect(refusalOf('AWSManagedControlPlane', { region: 'b' })).toMatch(
      /^admission webhook "validation\.awsmanagedcontrolplanes\.controlplane\.cluster\.x-k8s\.io" denied the request: AWSManagedControlPlane\.controlplane\.cluster\.x-k8s\.io "cp" is invalid: spec\.region/,
    );
    expect(refusalOf('ROSAControlPlane', { rosaClusterName: 'b' })).toMatch(
      /^ROSAControlPlane\.controlplane\.cluster\.x-k8s\.io "cp" is invalid: spec\.rosaClusterName/,
    );
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
  expect(reasonsOf(of?.refusal?.(before, controlPlane({ dnsPrefix: 'x' }).object, true))).toBe(
    'spec.dnsPrefix: Invalid value: "x": field is immutable',
  );
  expect(of?.refusal?.(before, controlPlane({ sku: { tier: 'Standard' } }).object, true)).toBeUndefined();
});

test.each([
  ['AWSManagedControlPlane', `${group}/v1beta2`, 'eksClusterName', 'default_cp'],
  ['GCPManagedControlPlane', `${infrastructure}/v1beta1`, 'clusterName', 'default-cp'],
])('the name that the webhook of %s sets stays', (kind, apiVersion, field, name) => {
  const before = objectOf(apiVersion, kind, {});
  const refusal = (value: string) =>
    reasonsOf(controlPlaneOf(before)?.refusal?.(before, objectOf(apiVersion, kind, { [field]: value }), true));
  expect(refusal('a')).toMatch(/Invalid value: "a": .*(?:different to current cluster name|immutable)/);
  expect(refusal(name)).toBeUndefined();
});
