import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { machinePoolKinds } from '../../../src/topology/machine-pools/index.ts';
import { controlPlaneMachine, fieldsOf, type Case as GroupCase, merged, planOf } from '../rollout/groups.ts';

type GroupObjects = NonNullable<GroupCase['of']>;

/** A MachinePool of four instances. */
function poolOf(kind: string, spec: JsonObject): GroupObjects {
  const metadata = { name: 'mp', namespace: 'default' };
  const bootstrap = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfig',
    metadata,
    spec: { preKubeadmCommands: ['a'] },
  };
  const group = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind, name: 'mp' };
  const configRef = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name: 'mp' };
  return {
    object: {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachinePool',
      metadata,
      spec: {
        replicas: 4,
        template: { spec: { version: 'v1.34.2', bootstrap: { configRef }, infrastructureRef: group } },
      },
    },
    bootstrap,
    infrastructure: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1', kind, metadata, spec },
  };
}

interface Change {
  /** Merge patches of the MachinePool's template, its bootstrap config and its infrastructure. */
  machine?: JsonObject;
  pool?: JsonObject;
  bootstrap?: JsonObject;
  infrastructure?: JsonObject;
}

const planned = (of: GroupObjects, { machine, pool, bootstrap = {}, infrastructure = {} }: Change, more = {}) =>
  planOf({
    of,
    after: { spec: { ...pool, ...(machine && { template: { spec: machine } }) } },
    templates: {
      bootstrap: merged(of.bootstrap ?? {}, { spec: bootstrap }),
      infrastructure: merged(of.infrastructure ?? {}, { spec: infrastructure }),
    },
    ...more,
  });

const newer = { machine: { version: 'v1.35.0' } };
const patch = { machine: { version: 'v1.34.3' } };
const otherConfig = { machine: { bootstrap: { configRef: { name: 'mp-2' } } } };
const commands = { bootstrap: { preKubeadmCommands: ['b'] } };

/** What is expected: the verdict, and how many instances are replaced if some are. */
type Case = [name: string, change: Change, verdict: string | number];

const tables: readonly { kind: string; spec: JsonObject; cases: readonly Case[] }[] = [
  {
    kind: 'AWSMachinePool',
    spec: { minSize: 1, maxSize: 5, awsLaunchTemplate: { instanceType: 'm6i.large', ami: {} } },
    cases: [
      ['a version: another AMI is looked up', newer, 4],
      ['another config, whose Secret has another name', otherConfig, 4],
      ['user data alone', commands, 'inPlace'],
      ['the instance type', { infrastructure: { awsLaunchTemplate: { instanceType: 'm6i.xlarge' } } }, 4],
      ['an AMI', { infrastructure: { awsLaunchTemplate: { ami: { id: 'ami-2' } } } }, 4],
      ['an SSH key', { infrastructure: { awsLaunchTemplate: { sshKeyName: 'other' } } }, 4],
      ['tags', { infrastructure: { additionalTags: { a: 'b' } } }, 4],
      ['the lookup of an AMI', { infrastructure: { awsLaunchTemplate: { imageLookupOrg: '1' } } }, 4],
      [
        'the root volume, which is not compared',
        { infrastructure: { awsLaunchTemplate: { rootVolume: { size: 9 } } } },
        'inPlace',
      ],
      ['the largest size', { infrastructure: { maxSize: 9 } }, 'inPlace'],
      [
        'how instances are refreshed',
        { infrastructure: { refreshPreferences: { minHealthyPercentage: 50 } } },
        'inPlace',
      ],
      [
        'the instance type, without refreshes',
        { infrastructure: { refreshPreferences: { disable: true }, awsLaunchTemplate: { instanceType: 'a' } } },
        'inPlace',
      ],
      ['a field that is not known', { infrastructure: { awsLaunchTemplate: { enclave: true } } }, 'unknown'],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  {
    kind: 'AWSManagedMachinePool',
    spec: { eksNodegroupName: 'a', instanceType: 'm6i.large', labels: { a: 'b' } },
    cases: [
      ['a minor version', newer, 4],
      ['a patch version, which EKS does not have', patch, 'inPlace'],
      ['user data, without a launch template', commands, 'inPlace'],
      ['the AMI version', { infrastructure: { amiVersion: '1.34.2-20260101' } }, 4],
      ['labels', { infrastructure: { labels: { a: 'c' } } }, 'inPlace'],
      ['taints', { infrastructure: { taints: [{ key: 'a', effect: 'no-schedule' }] } }, 'inPlace'],
      ['how it is updated', { infrastructure: { updateConfig: { maxUnavailable: 2 } } }, 'inPlace'],
      ['scaling', { infrastructure: { scaling: { maxSize: 9 } } }, 'inPlace'],
      [
        'the instance type, which is only read to create it',
        { infrastructure: { instanceType: 'm6i.xlarge' } },
        'inPlace',
      ],
      ['its name', { infrastructure: { eksNodegroupName: 'b' } }, 'refused'],
      ['a first launch template', { infrastructure: { awsLaunchTemplate: { ami: { id: 'a' } } } }, 'refused'],
      ['the size of disks', { infrastructure: { diskSize: 9 } }, 'refused'],
      ['a field that is not known', { infrastructure: { placement: 'a' } }, 'unknown'],
    ],
  },
  {
    kind: 'AWSManagedMachinePool',
    spec: { awsLaunchTemplate: { name: 'a', instanceType: 'm6i.large', ami: { id: 'ami-1' } } },
    cases: [
      ['user data, with a launch template', commands, 4],
      ['a patch version, with an AMI', patch, 'inPlace'],
      ['another config', otherConfig, 4],
      ['the instance type of the launch template', { infrastructure: { awsLaunchTemplate: { instanceType: 'a' } } }, 4],
      ['tags', { infrastructure: { additionalTags: { a: 'b' } } }, 4],
      ['a field of the launch template', { infrastructure: { awsLaunchTemplate: { enclave: true } } }, 'unknown'],
      ['the name that it has by default', { infrastructure: { eksNodegroupName: 'default_mp' } }, 'inPlace'],
      ['another name', { infrastructure: { eksNodegroupName: 'b' } }, 'refused'],
      ['the name of the launch template', { infrastructure: { awsLaunchTemplate: { name: 'b' } } }, 'refused'],
    ],
  },
  {
    kind: 'AzureMachinePool',
    spec: { location: 'westeurope', template: { vmSize: 'Standard_D2s_v3', osDisk: { diskSizeGB: 30 } } },
    cases: [
      ['a version, whose image is looked up', newer, 4],
      ['an image', { infrastructure: { template: { image: { id: 'a' } } } }, 4],
      ['the size: as many as maxSurge', { infrastructure: { template: { vmSize: 'Standard_D4s_v3' } } }, 1],
      ['zones', { pool: { failureDomains: ['1', '2'] } }, 1],
      [
        'the size, with another surge',
        {
          infrastructure: {
            template: { vmSize: 'Standard_D4s_v3' },
            strategy: { rollingUpdate: { maxSurge: '50%' } },
          },
        },
        2,
      ],
      ['user data', commands, 'inPlace'],
      ['another config', otherConfig, 'inPlace'],
      ['disks', { infrastructure: { template: { osDisk: { diskSizeGB: 60 } } } }, 'inPlace'],
      ['an SSH key', { infrastructure: { template: { sshPublicKey: 'a' } } }, 'inPlace'],
      [
        'networks, which are only read to create it',
        { infrastructure: { template: { networkInterfaces: [] } } },
        'inPlace',
      ],
      ['the strategy', { infrastructure: { strategy: { rollingUpdate: { maxSurge: 2 } } } }, 'inPlace'],
      ['no bootstrap extension', { infrastructure: { template: { disableVMBootstrapExtension: true } } }, 'inPlace'],
      ['a field that is not known', { infrastructure: { orchestrationMode: 'Flexible' } }, 'unknown'],
    ],
  },
  {
    kind: 'AzureMachinePool',
    spec: {
      template: { image: { id: 'a' }, disableVMBootstrapExtension: true },
      strategy: { rollingUpdate: { maxSurge: 0 } },
    },
    cases: [
      ['a version, with an image', newer, 'inPlace'],
      ['the size, without surge', { infrastructure: { template: { vmSize: 'a' } } }, 'inPlace'],
      [
        'the bootstrap extension, once it is decided',
        { infrastructure: { template: { disableVMBootstrapExtension: false } } },
        'refused',
      ],
    ],
  },
  {
    kind: 'AzureManagedMachinePool',
    spec: { mode: 'User', sku: 'Standard_D2s_v3', enableFIPS: false },
    cases: [
      ['a version', newer, 4],
      ['scaling', { infrastructure: { scaling: { minSize: 1, maxSize: 3 } } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['labels: AKS decides', { infrastructure: { nodeLabels: { a: 'b' } } }, 'unknown'],
      ['taints: AKS decides', { infrastructure: { taints: [{ key: 'a' }] } }, 'unknown'],
      ['the mode', { infrastructure: { mode: 'System' } }, 'unknown'],
      ['the size', { infrastructure: { sku: 'Standard_D4s_v3' } }, 'refused'],
      ['disks', { infrastructure: { osDiskSizeGB: 60 } }, 'refused'],
      ['zones', { infrastructure: { availabilityZones: ['1'] } }, 'refused'],
      ['the kubelet', { infrastructure: { kubeletConfig: { cpuManagerPolicy: 'static' } } }, 'refused'],
      ['a field that is set, and stays', { infrastructure: { enableFIPS: true } }, 'refused'],
      ['a field that may be set once', { infrastructure: { subnetName: 'a' } }, 'unknown'],
      ['the name that it has by default', { infrastructure: { name: 'mp' } }, 'inPlace'],
      ['another name', { infrastructure: { name: 'a' } }, 'refused'],
      ['the system that it has by default', { infrastructure: { osType: 'Linux' } }, 'inPlace'],
      ['another system', { infrastructure: { osType: 'Windows' } }, 'refused'],
      ['a version and labels', { ...newer, infrastructure: { nodeLabels: { a: 'b' } } }, 4],
    ],
  },
  {
    kind: 'AzureASOManagedMachinePool',
    spec: { resources: [{ kind: 'ManagedClustersAgentPool', spec: { vmSize: 'a' } }] },
    cases: [
      ['a version', newer, 4],
      ['a resource: AKS decides', { infrastructure: { resources: [] } }, 'unknown'],
      ['user data', commands, 'inPlace'],
      [
        'another resource: AKS decides',
        { infrastructure: { resources: [{ kind: 'ManagedClustersAgentPool', spec: { vmSize: 'b' } }] } },
        'unknown',
      ],
      ['a version and a resource', { ...newer, infrastructure: { resources: [] } }, 4],
      ['a patch version', patch, 4],
      ['another config', otherConfig, 'inPlace'],
      ['what its controller writes', { infrastructure: { providerIDList: ['a'] } }, 'inPlace'],
      ['a field that is not known', { infrastructure: { other: 'a' } }, 'unknown'],
      ['labels of Machines', { pool: { template: { metadata: { labels: { a: 'b' } } } } }, 'inPlace'],
      ['nothing', {}, 'unchanged'],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  {
    kind: 'GCPManagedMachinePool',
    spec: { machineType: 'e2-medium', nodeNetwork: { tags: ['a'] } },
    cases: [
      ['a version', newer, 4],
      ['scaling', { infrastructure: { scaling: { minCount: 1 } } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['labels: GKE decides', { infrastructure: { kubernetesLabels: { a: 'b' } } }, 'unknown'],
      ['taints: GKE decides', { infrastructure: { kubernetesTaints: [] } }, 'unknown'],
      ['the image', { infrastructure: { imageType: 'ubuntu_containerd' } }, 'unknown'],
      ['network tags', { infrastructure: { nodeNetwork: { tags: ['b'] } } }, 'unknown'],
      ['locations', { infrastructure: { nodeLocations: ['a'] } }, 'unknown'],
      ['the machine type', { infrastructure: { machineType: 'e2-large' } }, 'refused'],
      ['disks', { infrastructure: { diskSizeGb: 9 } }, 'refused'],
      ['a range of addresses', { infrastructure: { nodeNetwork: { podRangeName: 'a' } } }, 'refused'],
      ['a field that is not known', { infrastructure: { nodeNetwork: { other: 'a' } } }, 'unknown'],
    ],
  },
  {
    kind: 'DockerMachinePool',
    spec: { template: { preLoadImages: ['a'] } },
    cases: [
      ['a version', newer, 4],
      ['an image', { infrastructure: { template: { customImage: 'kindest/node:mine' } } }, 4],
      ['mounts', { infrastructure: { template: { extraMounts: [] } } }, 'inPlace'],
      ['images to load', { infrastructure: { template: { preLoadImages: [] } } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['another config', otherConfig, 'inPlace'],
      ['a field that is not known', { infrastructure: { template: { cpus: 2 } } }, 'unknown'],
      ['labels of Machines', { pool: { template: { metadata: { labels: { a: 'b' } } } } }, 'inPlace'],
      ['nothing', {}, 'unchanged'],
      ['a patch version', patch, 4],
      ['a version and user data', { ...newer, ...commands }, 4],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  {
    kind: 'DevMachinePool',
    spec: { backend: { docker: { customImage: 'kindest/node:mine' } } },
    cases: [
      ['a version, with an image', newer, 'inPlace'],
      ['another image', { infrastructure: { backend: { docker: { customImage: 'kindest/node:other' } } } }, 4],
      ['mounts', { infrastructure: { backend: { docker: { extraMounts: [] } } } }, 'inPlace'],
      ['another backend', { infrastructure: { backend: { inMemory: {} } } }, 'unknown'],
      ['no image any more', { infrastructure: { backend: { docker: { customImage: null } } } }, 4],
      [
        'a version and no image any more',
        { ...newer, infrastructure: { backend: { docker: { customImage: null } } } },
        4,
      ],
      ['images to load', { infrastructure: { backend: { docker: { preLoadImages: ['a'] } } } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['another config', otherConfig, 'inPlace'],
      ['what its controller writes', { infrastructure: { providerID: 'a' } }, 'inPlace'],
      ['a field that is not known', { infrastructure: { backend: { docker: { cpus: 2 } } } }, 'unknown'],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  {
    kind: 'OtherMachinePool',
    spec: {},
    cases: [
      ['a version of a kind that is not known', newer, 'unknown'],
      ['replicas of a kind that is not known', { pool: { replicas: 5 } }, 'scaled'],
    ],
  },
  {
    kind: 'GCPMachinePool',
    spec: { instanceType: 'e2-medium' },
    cases: [
      ['a version, whose image is looked up', newer, 'inPlace'],
      ['the instance type', { infrastructure: { instanceType: 'e2-large' } }, 'inPlace'],
      ['an image', { infrastructure: { image: 'a' } }, 'inPlace'],
      ['disks', { infrastructure: { rootDeviceSize: 9 } }, 'inPlace'],
      ['labels', { infrastructure: { additionalLabels: { a: 'b' } } }, 'inPlace'],
      ['network tags', { infrastructure: { additionalNetworkTags: ['a'] } }, 'inPlace'],
      ['accelerators', { infrastructure: { guestAccelerators: [] } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['another config', otherConfig, 'inPlace'],
      ['zones, which are only read to create it', { pool: { failureDomains: ['a'] } }, 'inPlace'],
      ['a field that is not known', { infrastructure: { updatePolicy: 'a' } }, 'unknown'],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  {
    kind: 'OCIMachinePool',
    spec: { instanceConfiguration: { shape: 'VM.Standard.E4.Flex', instanceConfigurationId: 'a' } },
    cases: [
      ['a version: the image is that of the configuration', newer, 'inPlace'],
      ['a shape', { infrastructure: { instanceConfiguration: { shape: 'VM.Standard.E5.Flex' } } }, 'inPlace'],
      [
        'an image',
        { infrastructure: { instanceConfiguration: { instanceSourceViaImageConfig: { imageId: 'a' } } } },
        'inPlace',
      ],
      ['networks', { infrastructure: { instanceConfiguration: { instanceVnicConfiguration: {} } } }, 'inPlace'],
      ['metadata', { infrastructure: { instanceConfiguration: { metadata: { a: 'b' } } } }, 'inPlace'],
      [
        'the configuration, which it writes itself',
        { infrastructure: { instanceConfiguration: { instanceConfigurationId: 'b' } } },
        'inPlace',
      ],
      [
        'placements, which are only read to create it',
        { infrastructure: { placementDetails: [{ availabilityDomain: 1 }] } },
        'inPlace',
      ],
      ['user data', commands, 'inPlace'],
      ['another config', otherConfig, 'inPlace'],
      ['zones', { pool: { failureDomains: ['a'] } }, 'inPlace'],
      ['a field that is not known', { infrastructure: { other: 'a' } }, 'unknown'],
      ['replicas', { pool: { replicas: 6 } }, 'scaled'],
    ],
  },
  ...[true, false].map((isNodeCyclingEnabled) => ({
    kind: 'OCIManagedMachinePool',
    spec: { version: 'v1.34.1', nodeShape: 'a', nodePoolCyclingDetails: { isNodeCyclingEnabled } },
    cases: [
      ...(
        [
          ['its version', { version: 'v1.35.0' }],
          ['the shape', { nodeShape: 'b' }],
          ['the size of a shape', { nodeShapeConfig: { ocpus: '2' } }],
          ['an image', { nodeSourceViaImage: { imageId: 'a' } }],
          ['an SSH key', { sshPublicKey: 'a' }],
          ['metadata', { nodeMetadata: { a: 'b' } }],
          ['labels', { initialNodeLabels: [{ key: 'a' }] }],
        ] as [string, JsonObject][]
      ).map(([name, infrastructure]): Case => [name, { infrastructure }, isNodeCyclingEnabled ? 'unknown' : 'inPlace']),
      ['networks: OKE decides', { infrastructure: { nodePoolNodeConfig: { nsgNames: ['a'] } } }, 'unknown'],
      ['the version of the MachinePool', newer, 'inPlace'],
      ['how nodes are cycled', { infrastructure: { nodePoolCyclingDetails: { maximumSurge: '1' } } }, 'inPlace'],
      ['how nodes are drained', { infrastructure: { nodeEvictionNodePoolSettings: {} } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['a field that is not known', { infrastructure: { other: 'a' } }, 'unknown'],
    ] satisfies Case[],
  })),
  {
    kind: 'ROSAMachinePool',
    spec: { nodePoolName: 'a', version: '4.19.1', instanceType: 'm6i.large', subnet: 'a' },
    cases: [
      ['its version', { infrastructure: { version: '4.19.2' } }, 4],
      ['the version of the MachinePool', newer, 'inPlace'],
      ['autoscaling', { infrastructure: { autoscaling: { minReplicas: 1 } } }, 'inPlace'],
      ['how it is updated', { infrastructure: { updateConfig: { rollingUpdate: { maxSurge: 2 } } } }, 'inPlace'],
      ['how long nodes are drained', { infrastructure: { nodeDrainGracePeriod: '5m' } }, 'inPlace'],
      ['user data', commands, 'inPlace'],
      ['labels: ROSA decides', { infrastructure: { labels: { a: 'b' } } }, 'unknown'],
      ['taints: ROSA decides', { infrastructure: { taints: [{ key: 'a' }] } }, 'unknown'],
      ['the instance type', { infrastructure: { instanceType: 'm6i.xlarge' } }, 'unknown'],
      ['a version and labels', { infrastructure: { version: '4.19.2', labels: { a: 'b' } } }, 4],
      ['its name', { infrastructure: { nodePoolName: 'b' } }, 'refused'],
      ['the subnet', { infrastructure: { subnet: 'b' } }, 'refused'],
      ['a first size of disks', { infrastructure: { volumeSize: 500 } }, 'unknown'],
      ['tags', { infrastructure: { additionalTags: { a: 'b' } } }, 'refused'],
      ['a field that is not known', { infrastructure: { other: 'a' } }, 'unknown'],
    ],
  },
];

describe.each(tables)('$kind ($spec)', ({ kind, spec, cases }) => {
  test.each(cases)('%s', async (_, change, expected) => {
    const plan = await planned(poolOf(kind, spec), change);
    const replaced = typeof expected === 'number' ? expected : 0;
    expect(plan).toMatchObject({
      verdict: replaced > 0 ? 'replaced' : expected,
      machines: { before: 4, replaced, inPlace: 0 },
    });
    // Whatever is said has its field, and what is not known its reason.
    expect(fieldsOf(plan).length > 0).toBe(expected !== 'unchanged');
    expect(plan.problems?.length ?? 0).toBe(expected === 'unknown' || expected === 'refused' ? 1 : 0);
    expect((plan.manner ?? []).some((text) => text.includes('Machines keep'))).toBe(false);
  });
});

test('each kind has its table', () => {
  expect([...machinePoolKinds.keys()].filter((kind) => !tables.some((table) => table.kind === kind))).toEqual([]);
});

test('a first version of an AWSManagedMachinePool, whose node group may have it, is not known', async () => {
  const withoutVersion = (spec: JsonObject) => {
    const of = poolOf('AWSManagedMachinePool', spec);
    return { ...of, object: merged(of.object, { spec: { template: { spec: { version: null } } } }) };
  };
  expect((await planned(withoutVersion({}), newer)).verdict).toBe('unknown');
  expect((await planned(withoutVersion({ awsLaunchTemplate: {} }), newer)).verdict).toBe('replaced');
});

const texts: [string, GroupObjects, Change, readonly string[], readonly string[]][] = [
  [
    'a refresh',
    poolOf('AWSMachinePool', { awsLaunchTemplate: {}, refreshPreferences: { minHealthyPercentage: 75 } }),
    newer,
    ['an instance refresh of the Auto Scaling group replaces instances while 75 % stay healthy (minHealthyPercentage)'],
    [],
  ],
  [
    'a surge',
    poolOf('AzureMachinePool', { template: { vmSize: 'a' } }),
    { infrastructure: { template: { vmSize: 'b' } } },
    [
      'new instances come first (maxSurge 1, maxUnavailable 0)',
      '1 Machine, because capacity grows by maxSurge: the others stay',
    ],
    [],
  ],
  [
    'new instances only',
    poolOf('AWSMachinePool', { awsLaunchTemplate: {} }),
    commands,
    ['spec.preKubeadmCommands: instances stay, new ones get it'],
    [],
  ],
  [
    'nothing at all',
    poolOf('AWSManagedMachinePool', { instanceType: 'a' }),
    { infrastructure: { instanceType: 'b' } },
    ['spec.instanceType: AWSManagedMachinePool does nothing about it'],
    [],
  ],
  [
    'a service that decides',
    poolOf('AzureManagedMachinePool', {}),
    { infrastructure: { mode: 'User', nodeLabels: { a: 'b' } } },
    [],
    ['AKS decides whether nodes are replaced for spec.mode and spec.nodeLabels'],
  ],
  [
    'fields that are not known',
    poolOf('OtherMachinePool', {}),
    newer,
    [],
    ['it is not known whether OtherMachinePool replaces instances for spec.template.spec.version'],
  ],
  [
    'a webhook that refuses',
    poolOf('GCPManagedMachinePool', {}),
    { infrastructure: { machineType: 'a' } },
    [],
    ['the webhook of GCPManagedMachinePool refuses changes of spec.machineType'],
  ],
];

test.each(texts)('%s is said', async (_, of, change, manner, problems) => {
  const plan = await planned(of, change);
  expect(plan.manner ?? []).toEqual(manner);
  expect((plan.problems ?? []).map(({ text }) => text)).toEqual(problems);
});

test('Machines of a MachinePool count where they exist, and are named', async () => {
  const machines = ['a', 'b', 'c'].map((name) => controlPlaneMachine(name));
  const plan = await planned(poolOf('DockerMachinePool', {}), { ...newer, pool: { replicas: 3 } }, { machines });
  expect(plan).toMatchObject({ machines: { before: 3, replaced: 3 }, replaces: ['a', 'b', 'c'] });
});

test('without its infrastructure it is not known what its provider does', async () => {
  const of = { ...poolOf('AWSMachinePool', {}), infrastructure: undefined };
  const plan = await planOf({ of, after: { spec: { template: { spec: newer.machine } } } });
  expect(plan).toMatchObject({
    verdict: 'unknown',
    problems: [{ remedy: expect.stringContaining('infrastructureRef') }],
  });
});

test('an infrastructure of which nothing was known before is judged by its fields', async () => {
  const { infrastructure, ...of } = poolOf('GCPManagedMachinePool', { scaling: { maxCount: 3 }, diskType: 'a' });
  const templates = infrastructure && { infrastructure };
  const plan = await planOf({ of: { ...of, infrastructure: undefined }, ...(templates && { templates }) });
  expect((plan.problems ?? []).map(({ text }) => text)).toEqual([
    'the webhook of GCPManagedMachinePool refuses changes of spec.diskType',
  ]);
});
