import { describe, expect, test } from 'vitest';
import { copyOf, type Json, type JsonObject, objectAt, objectsAt } from '../../src/kubernetes/index.ts';
import { type CallHook, isMade, layered, type Plan, plan, World } from '../../src/topology/index.ts';
import { answerFrom, recordedChanges } from './recorded.ts';
import { problemsOf } from './small-class.ts';

/** What a user wrote of a recorded state, by short names. */
interface Written {
  cluster: JsonObject;
  /** `spec.topology` of the Cluster. */
  topology: JsonObject;
  /** Its MachineDeployments. */
  groups: [JsonObject, JsonObject];
  /** `spec` of the class. */
  fleet: JsonObject;
  workers: JsonObject;
  patches: JsonObject[];
  objects: JsonObject[];
  /** `spec.template.spec` of a template, for a copy of it under another name, to which a reference moves. */
  rotated: (holder: JsonObject, kind: string, name: string) => JsonObject;
  /** An object of the state by kind and name. */
  find: (kind: string, name: string) => JsonObject;
}

const before = recordedChanges.find(({ name }) => name === 'audit-level')!.before;
const withoutTopology = recordedChanges.find(({ name }) => name === 'F-cp-files')!.before;

function written(state: readonly JsonObject[]): Written {
  const objects = copyOf(state as Json[]) as JsonObject[];
  const find = (kind: string, name: string) =>
    objects.find((object) => object.kind === kind && objectAt(object, 'metadata').name === name)!;
  const cluster = find('Cluster', 'f1') ?? find('Cluster', 'f2');
  const topology = objectAt(cluster, 'spec', 'topology');
  const fleet = objectAt(find('ClusterClass', 'fleet'), 'spec');
  return {
    cluster,
    topology,
    groups: objectsAt(topology, 'workers', 'machineDeployments') as [JsonObject, JsonObject],
    fleet,
    workers: objectsAt(fleet, 'workers', 'machineDeployments')[0] ?? {},
    patches: (fleet.patches ?? []) as JsonObject[],
    objects,
    rotated: (holder, kind, name) => {
      const copy = copyOf(find(kind, name)) as JsonObject;
      copy.metadata = { name: `${name}-2`, namespace: 'default' };
      objects.push(copy);
      objectAt(holder, 'templateRef').name = `${name}-2`;
      return objectAt(copy, 'spec', 'template', 'spec');
    },
    find,
  };
}

/** The plan of a change of what is recorded. */
function planned(change: (all: Written) => void, state: readonly JsonObject[] = before): Promise<Plan> {
  const all = written(state);
  change(all);
  const isUsers = (object: JsonObject) => state === withoutTopology || !isMade(object);
  const after = layered(state, all.objects.filter(isUsers));
  return plan(new World(state), new World(after), {
    clusterApiVersion: { major: 1, minor: 13 },
    now: new Date('2026-11-24T12:00:00Z'),
  });
}

/** Verdicts and numbers of replaced Machines of the groups that change: `md-0: replaced 2`. */
const changesIn = (result: Plan): string[] =>
  result.clusters.flatMap(({ groups }) =>
    groups
      .filter(({ verdict }) => verdict !== 'unchanged')
      .map(({ group, verdict, machines: { replaced } }) => `${group}: ${verdict}${replaced > 0 ? ` ${replaced}` : ''}`),
  );

/** The verdicts where Cluster API stops before it comes to a group. */
const allStopped = ['control-plane: stopped', 'md-0: stopped', 'md-1: stopped'];

const selector = (apiVersion: string, kind: string, matchResources: JsonObject) => ({
  apiVersion,
  kind,
  matchResources,
});
const controlPlanes = selector('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlaneTemplate', {
  controlPlane: true,
});
const workerConfigs = selector('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate', {
  machineDeploymentClass: { names: ['default-worker'] },
});
const machinesOfControlPlanes = selector('infrastructure.cluster.x-k8s.io/v1beta2', 'DevMachineTemplate', {
  controlPlane: true,
});
const add = (name: string, on: JsonObject, path: string, value: Json, more: JsonObject = {}): JsonObject => ({
  name,
  definitions: [{ selector: on, jsonPatches: [{ op: 'add', path: `/spec/template/${path}`, value }] }],
  ...more,
});
const kubeadm = (path: string, value: Json) => (all: Written) => {
  all.patches.push(add('more', controlPlanes, `spec/kubeadmConfigSpec/${path}`, value));
};
const startup = (spec: JsonObject) => objectAt(spec, 'backend', 'inMemory', 'vm', 'provisioning');

const cp = 'control-plane: replaced 3';
/** The first Machine was not made with joinConfiguration. */
const joined = 'control-plane: replaced 2';
const md0 = 'md-0: replaced 2';
const md1 = 'md-1: replaced 1';

describe('changes of a Cluster of the class fleet', () => {
  test.each<[string, (all: Written) => void, string[]]>([
    ['nothing', () => {}, []],
    // Cluster
    [
      'imageRepository',
      ({ topology }) => {
        objectsAt(topology, 'variables')[0]!.value = 'other.example.com';
      },
      [cp],
    ],
    [
      'imageRepository emptied',
      ({ topology }) => {
        objectsAt(topology, 'variables')[0]!.value = '';
      },
      [cp],
    ],
    [
      'proxy',
      ({ topology }) => {
        (topology.variables as Json[]).push({ name: 'proxy', value: { http: 'a' } });
      },
      [md0, md1],
    ],
    [
      'a variable overridden in one group',
      ({ groups }) => {
        groups[0].variables = { overrides: [{ name: 'nodeLabel', value: 'x' }] };
      },
      [md0],
    ],
    [
      'an override removed',
      ({ groups }) => {
        delete groups[1].variables;
      },
      [md1],
    ],
    [
      'an override of a variable that only the control plane reads',
      ({ groups }) => {
        groups[0].variables = { overrides: [{ name: 'auditLevel', value: 'Metadata' }] };
      },
      [],
    ],
    [
      'an override in the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').variables = { overrides: [{ name: 'auditLevel', value: 'Metadata' }] };
      },
      [cp],
    ],
    [
      'replicas of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').replicas = 5;
      },
      ['control-plane: scaled'],
    ],
    [
      'fewer replicas of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').replicas = 1;
      },
      ['control-plane: scaled'],
    ],
    [
      'even replicas of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').replicas = 2;
      },
      allStopped,
    ],
    [
      'labels of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane', 'metadata', 'labels').zone = 'b';
      },
      ['control-plane: inPlace'],
    ],
    [
      'labels removed of the control plane',
      ({ topology }) => {
        delete objectAt(topology, 'controlPlane').metadata;
      },
      ['control-plane: inPlace'],
    ],
    [
      'drain timeout of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').deletion = { nodeDrainTimeoutSeconds: 5 };
      },
      ['control-plane: inPlace'],
    ],
    [
      'readinessGates of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').readinessGates = [{ conditionType: 'A' }];
      },
      ['control-plane: inPlace'],
    ],
    [
      'taints of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').taints = [
          { key: 'a', value: 'b', effect: 'NoSchedule', propagation: 'Always' },
        ];
      },
      ['control-plane: inPlace'],
    ],
    [
      'health check of the control plane',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').healthCheck = {
          enabled: true,
          checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 300 }] },
        };
      },
      [],
    ],
    [
      'rollout.after in the future',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').rollout = { after: '2030-01-01T00:00:00Z' };
      },
      [cp],
    ],
    [
      'rollout.after before the Machines were made',
      ({ topology }) => {
        objectAt(topology, 'controlPlane').rollout = { after: '2020-01-01T00:00:00Z' };
      },
      ['control-plane: inPlace'],
    ],
    [
      'rollout.after of workers',
      ({ groups }) => {
        groups[0].rollout = { after: '2026-11-24T11:00:00Z' };
      },
      [md0],
    ],
    [
      'maxSurge of workers',
      ({ groups }) => {
        groups[0].rollout = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } } };
      },
      ['md-0: inPlace'],
    ],
    [
      'labels of workers',
      ({ groups }) => {
        groups[0].metadata = { labels: { 'node.cluster.x-k8s.io/a': 'b' } };
      },
      ['md-0: inPlace'],
    ],
    [
      'deletion order',
      ({ groups }) => {
        groups[0].deletion = { order: 'Newest', nodeDrainTimeoutSeconds: 30 };
      },
      ['md-0: inPlace'],
    ],
    [
      'drain timeout removed',
      ({ groups }) => {
        delete groups[0].deletion;
      },
      ['md-0: inPlace'],
    ],
    [
      'minReadySeconds removed',
      ({ groups }) => {
        delete groups[0].minReadySeconds;
      },
      ['md-0: inPlace'],
    ],
    [
      'readinessGates of workers',
      ({ groups }) => {
        groups[0].readinessGates = [{ conditionType: 'A' }];
      },
      ['md-0: inPlace'],
    ],
    [
      'taints of workers',
      ({ groups }) => {
        groups[1].taints = [{ key: 'a', effect: 'NoSchedule', propagation: 'OnInitialization' }];
      },
      ['md-1: inPlace'],
    ],
    [
      'health check of workers',
      ({ groups }) => {
        groups[0].healthCheck = { enabled: true, checks: { nodeStartupTimeoutSeconds: 600 } };
      },
      [],
    ],
    [
      'maxInFlight of workers',
      ({ groups }) => {
        groups[0].healthCheck = { remediation: { maxInFlight: 1 } };
      },
      ['md-0: inPlace'],
    ],
    [
      'a failure domain',
      ({ groups }) => {
        groups[0].failureDomain = 'a';
      },
      [md0],
    ],
    [
      'replicas that are no number of Machines',
      ({ groups }) => {
        groups[0].replicas = 1e308;
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'workers scaled to none',
      ({ groups }) => {
        groups[0].replicas = 0;
      },
      ['md-0: scaled'],
    ],
    [
      'replicas left to the autoscaler',
      ({ groups }) => {
        delete groups[0].replicas;
        groups[0].metadata = {
          annotations: {
            'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '1',
            'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '5',
          },
        };
      },
      ['md-0: inPlace'],
    ],
    [
      'replicas left out',
      ({ groups }) => {
        delete groups[0].replicas;
      },
      ['md-0: scaled'],
    ],
    [
      'a group removed',
      ({ topology, groups }) => {
        objectAt(topology, 'workers').machineDeployments = [groups[0]];
      },
      ['md-1: deleted'],
    ],
    [
      'groups reordered',
      ({ groups, topology }) => {
        objectAt(topology, 'workers').machineDeployments = [groups[1], groups[0]];
      },
      [],
    ],
    [
      'a patch release',
      ({ topology }) => {
        topology.version = 'v1.34.2';
      },
      [cp, md0, md1],
    ],
    [
      'two minors',
      ({ topology }) => {
        topology.version = 'v1.36.0';
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'a lower minor',
      ({ topology }) => {
        topology.version = 'v1.33.0';
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'labels of the Cluster',
      ({ cluster }) => {
        objectAt(cluster, 'metadata', 'labels').a = 'b';
      },
      [],
    ],
    [
      'an unknown variable',
      ({ topology }) => {
        (topology.variables as Json[]).push({ name: 'none', value: 1 });
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'an unknown class of workers',
      ({ groups }) => {
        groups[0].class = 'other';
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'paused',
      ({ cluster, topology }) => {
        objectAt(cluster, 'spec').paused = true;
        topology.version = 'v1.35.0';
      },
      [],
    ],
    // Class
    [
      'a label in the class of workers',
      ({ workers }) => {
        workers.metadata = { labels: { a: 'b' } };
      },
      ['md-0: inPlace', 'md-1: inPlace'],
    ],
    [
      'an annotation in the class of control planes',
      ({ fleet }) => {
        objectAt(fleet, 'controlPlane', 'metadata', 'annotations').a = 'b';
      },
      ['control-plane: inPlace'],
    ],
    [
      'a failure domain in the class',
      ({ workers }) => {
        workers.failureDomain = 'a';
      },
      [md0, md1],
    ],
    [
      'naming in the class',
      ({ workers, fleet }) => {
        workers.naming = { template: 'x-{{ .random }}' };
        objectAt(fleet, 'controlPlane').naming = { template: 'y-{{ .random }}' };
      },
      [],
    ],
    [
      'a strategy in the class',
      ({ workers }) => {
        workers.rollout = { strategy: { type: 'OnDelete' } };
      },
      ['md-0: inPlace', 'md-1: inPlace'],
    ],
    [
      'timeouts in the class',
      ({ workers, fleet }) => {
        workers.deletion = { nodeDrainTimeoutSeconds: 1, nodeDeletionTimeoutSeconds: 9 };
        objectAt(fleet, 'controlPlane').deletion = { nodeVolumeDetachTimeoutSeconds: 9 };
      },
      ['control-plane: inPlace', 'md-0: inPlace', 'md-1: inPlace'],
    ],
    [
      'a health check in the class',
      ({ workers }) => {
        workers.healthCheck = {
          checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] },
        };
      },
      [],
    ],
    [
      'patches reordered',
      ({ patches }) => {
        patches.reverse();
      },
      [],
    ],
    [
      'a patch renamed',
      ({ patches }) => {
        patches[0]!.name = 'other';
      },
      [],
    ],
    [
      'a patch removed',
      ({ patches }) => {
        patches.shift();
      },
      [cp],
    ],
    [
      'a patch written differently',
      ({ patches }) => {
        patches[0]!.enabledIf = '{{ if .imageRepository }}true{{ end }}';
      },
      [],
    ],
    [
      'a new variable that is not read',
      ({ fleet }) => {
        (fleet.variables as Json[]).push({
          name: 'new',
          required: false,
          schema: { openAPIV3Schema: { type: 'string', default: 'x' } },
        });
      },
      [],
    ],
    [
      'a new required variable',
      ({ fleet }) => {
        (fleet.variables as Json[]).push({
          name: 'new',
          required: true,
          schema: { openAPIV3Schema: { type: 'string' } },
        });
      },
      allStopped,
    ],
    [
      'a patch of the worker class by builtin version',
      ({ patches }) => {
        patches.push({
          name: 'v',
          definitions: [
            {
              selector: workerConfigs,
              jsonPatches: [
                {
                  op: 'add',
                  path: '/spec/template/spec/preKubeadmCommands',
                  valueFrom: { template: '["echo {{ .builtin.machineDeployment.version }}"]' },
                },
              ],
            },
          ],
        });
      },
      [md0, md1],
    ],
    [
      'a template of the control plane with other content',
      (all) => {
        objectAt(
          all.rotated(objectAt(all.fleet, 'controlPlane'), 'KubeadmControlPlaneTemplate', 'fleet'),
          'kubeadmConfigSpec',
          'clusterConfiguration',
          'apiServer',
        ).certSANs = ['x'];
      },
      [cp],
    ],
    [
      'a template of the control plane with another name',
      (all) => {
        all.rotated(objectAt(all.fleet, 'controlPlane'), 'KubeadmControlPlaneTemplate', 'fleet');
      },
      ['control-plane: inPlace'],
    ],
    [
      'Machines of the control plane with other content',
      (all) => {
        startup(
          all.rotated(objectAt(all.fleet, 'controlPlane', 'machineInfrastructure'), 'DevMachineTemplate', 'fleet-cp'),
        ).startupDuration = '2s';
      },
      [cp],
    ],
    [
      'Machines of the control plane with another name',
      (all) => {
        all.rotated(objectAt(all.fleet, 'controlPlane', 'machineInfrastructure'), 'DevMachineTemplate', 'fleet-cp');
      },
      [],
    ],
    [
      'Machines of workers with other content',
      (all) => {
        startup(
          all.rotated(objectAt(all.workers, 'infrastructure'), 'DevMachineTemplate', 'fleet-worker'),
        ).startupDuration = '2s';
      },
      [md0, md1],
    ],
    [
      'a bootstrap template in place',
      ({ find }) => {
        objectAt(find('KubeadmConfigTemplate', 'fleet-worker'), 'spec', 'template', 'spec').postKubeadmCommands = [
          'true',
        ];
      },
      [md0, md1],
    ],
    [
      'labels of a template',
      ({ find }) => {
        objectAt(find('KubeadmConfigTemplate', 'fleet-worker'), 'metadata').labels = { a: 'b' };
      },
      [],
    ],
    [
      'labels in a template',
      ({ find }) => {
        objectAt(find('KubeadmConfigTemplate', 'fleet-worker'), 'spec', 'template').metadata = { labels: { a: 'b' } };
      },
      [md0, md1],
    ],
    [
      'machineTemplate metadata of the control plane template',
      (all) => {
        all.rotated(objectAt(all.fleet, 'controlPlane'), 'KubeadmControlPlaneTemplate', 'fleet').machineTemplate = {
          metadata: { labels: { a: 'b' } },
        };
      },
      ['control-plane: inPlace'],
    ],
    [
      'an infrastructure template in place',
      ({ find }) => {
        startup(objectAt(find('DevMachineTemplate', 'fleet-worker'), 'spec', 'template', 'spec')).startupDuration =
          '2s';
      },
      ['md-0: refused', 'md-1: refused'],
    ],
    // kubeadm
    ['files', kubeadm('files', [{ path: '/a', content: 'b' }]), [cp]],
    ['preKubeadmCommands', kubeadm('preKubeadmCommands', ['true']), [cp]],
    [
      'an empty list of commands, which the schema refuses',
      kubeadm('preKubeadmCommands', []),
      ['control-plane: stopped', 'md-0: stopped', 'md-1: stopped'],
    ],
    ['users', kubeadm('users', [{ name: 'a' }]), [cp]],
    ['ntp', kubeadm('ntp', { enabled: true, servers: ['a'] }), [cp]],
    ['verbosity', kubeadm('verbosity', 5), [cp]],
    ['format: the default', kubeadm('format', 'cloud-config'), ['control-plane: inPlace']],
    ['format', kubeadm('format', 'ignition'), [cp]],
    ['dns', kubeadm('clusterConfiguration/dns', { imageTag: 'v1.12.0' }), ['control-plane: inPlace']],
    ['etcd', kubeadm('clusterConfiguration/etcd', { local: { dataDir: '/x' } }), [cp]],
    ['apiServer arguments', kubeadm('clusterConfiguration/apiServer/extraArgs', [{ name: 'v', value: '5' }]), [cp]],
    ['scheduler', kubeadm('clusterConfiguration/scheduler', { extraArgs: [{ name: 'v', value: '5' }] }), [cp]],
    ['feature gates', kubeadm('clusterConfiguration/featureGates', { NodeLocalCRISocket: true }), [cp]],
    [
      'the feature gate that Cluster API sets',
      kubeadm('clusterConfiguration/featureGates', { ControlPlaneKubeletLocalMode: true }),
      ['control-plane: inPlace'],
    ],
    ['encryption algorithm', kubeadm('clusterConfiguration/encryptionAlgorithm', 'RSA-3072'), [cp]],
    [
      'imagePullPolicy: the default',
      kubeadm('joinConfiguration/nodeRegistration/imagePullPolicy', 'IfNotPresent'),
      ['control-plane: inPlace'],
    ],
    ['taints of the Node: none', kubeadm('joinConfiguration/nodeRegistration/taints', []), [joined]],
    [
      'initConfiguration only',
      kubeadm('initConfiguration/nodeRegistration/kubeletExtraArgs/-', { name: 'v', value: '5' }),
      ['control-plane: inPlace'],
    ],
    [
      'a timeout of those that join, which the first Machine does not have',
      kubeadm('joinConfiguration/timeouts', { controlPlaneComponentHealthCheckSeconds: 300 }),
      ['control-plane: stopped', 'md-0: stopped', 'md-1: stopped'],
    ],
    ['other timeouts', kubeadm('joinConfiguration/timeouts', { tlsBootstrapSeconds: 300 }), [joined]],
    ['skipPhases', kubeadm('joinConfiguration/skipPhases', ['preflight']), [joined]],
    [
      'discovery',
      kubeadm('joinConfiguration/discovery', { bootstrapToken: { unsafeSkipCAVerification: true } }),
      ['control-plane: inPlace'],
    ],
    [
      'maxSurge of the control plane',
      ({ patches }) => {
        patches.push(
          add('surge', controlPlanes, 'spec/rollout', {
            strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } },
          }),
        );
      },
      ['control-plane: inPlace'],
    ],
    [
      'machineNaming of the control plane',
      ({ patches }) => {
        patches.push(
          add('naming', controlPlanes, 'spec/machineNaming', { template: '{{ .cluster.name }}-{{ .random }}' }),
        );
      },
      ['control-plane: inPlace'],
    ],
    [
      'remediation of the control plane',
      ({ patches }) => {
        patches.push(add('remediation', controlPlanes, 'spec/remediation', { maxRetry: 3 }));
      },
      ['control-plane: inPlace'],
    ],
    [
      'a patch of the Machines of the control plane',
      ({ patches }) => {
        patches.push(
          add('infra', machinesOfControlPlanes, 'spec/backend/inMemory/vm/provisioning/startupJitter', '0.1'),
        );
      },
      [cp],
    ],
    [
      'a patch that selects nothing',
      ({ patches }) => {
        patches.push(
          add(
            'none',
            { ...workerConfigs, matchResources: { machineDeploymentClass: { names: ['other-*'] } } },
            'spec/verbosity',
            5,
          ),
        );
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'a patch that is not enabled',
      ({ patches }) => {
        patches.push(add('off', workerConfigs, 'spec/verbosity', 5, { enabledIf: 'false' }));
      },
      [],
    ],
    [
      'kubernetesVersions without the present one',
      ({ fleet }) => {
        fleet.kubernetesVersions = ['v1.35.0'];
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
    [
      'a Cluster of another class',
      ({ topology }) => {
        topology.classRef = { name: 'in-memory' };
      },
      ['control-plane: refused', 'md-0: refused', 'md-1: refused'],
    ],
  ])('%s', async (_, change, expected) => {
    const result = await planned(change);
    expect(changesIn(result), JSON.stringify(problemsOf(result))).toEqual(expected);
  });
});

test('a MachineDeployment may be called control-plane', async () => {
  const state = JSON.parse(JSON.stringify(withoutTopology).replaceAll('"f2-md"', '"control-plane"')) as JsonObject[];
  const all = written(state);
  objectAt(all.find('MachineDeployment', 'control-plane'), 'spec', 'template', 'spec').failureDomain = 'b';
  const { clusters } = await plan(new World(state), new World(all.objects), { now: new Date('2026-11-24T12:00:00Z') });
  const workers = clusters[0]?.groups.find(({ kind }) => kind === 'MachineDeployment');
  expect(workers).toMatchObject({ verdict: 'replaced', machines: { before: 2, replaced: 2 } });
});

describe('changes of a Cluster without a topology', () => {
  const controlPlane = ({ find }: Written) => objectAt(find('KubeadmControlPlane', 'f2'), 'spec');
  const md = ({ find }: Written) => objectAt(find('MachineDeployment', 'f2-md'), 'spec');
  const machine = (all: Written) => objectAt(md(all), 'template', 'spec');
  const config = (all: Written) => objectAt(controlPlane(all), 'kubeadmConfigSpec');
  const copy = (all: Written, kind: string, name: string, edit: (spec: JsonObject) => void = () => {}) => {
    const one = copyOf(all.find(kind, name)) as JsonObject;
    one.metadata = { name: `${name}-2`, namespace: 'default' };
    edit(objectAt(one, 'spec', 'template', 'spec'));
    all.objects.push(one);
    return `${name}-2`;
  };
  test.each<[string, (all: Written) => void, string[]]>([
    ['nothing', () => {}, []],
    [
      'another template of the control plane, of the same content',
      (all) => {
        objectAt(controlPlane(all), 'machineTemplate', 'spec', 'infrastructureRef').name = copy(
          all,
          'DevMachineTemplate',
          'f2-cp',
        );
      },
      [cp],
    ],
    [
      'an infrastructure template in place',
      ({ find }) => {
        startup(objectAt(find('DevMachineTemplate', 'f2-cp'), 'spec', 'template', 'spec')).startupDuration = '9s';
      },
      ['control-plane: refused'],
    ],
    [
      'labels of Machines of the control plane',
      (all) => {
        objectAt(controlPlane(all), 'machineTemplate').metadata = { labels: { a: 'b' } };
      },
      ['control-plane: inPlace'],
    ],
    [
      'taints, gates and timeouts',
      (all) => {
        Object.assign(objectAt(controlPlane(all), 'machineTemplate', 'spec'), {
          taints: [{ key: 'a', effect: 'NoSchedule', propagation: 'Always' }],
          readinessGates: [{ conditionType: 'A' }],
          deletion: { nodeDeletionTimeoutSeconds: 1 },
        });
      },
      ['control-plane: inPlace'],
    ],
    [
      'a version',
      (all) => {
        controlPlane(all).version = 'v1.35.1';
      },
      [cp],
    ],
    [
      'two minors',
      (all) => {
        controlPlane(all).version = 'v1.37.0';
      },
      ['control-plane: refused'],
    ],
    [
      'replicas',
      (all) => {
        controlPlane(all).replicas = 5;
      },
      ['control-plane: scaled'],
    ],
    [
      'even replicas',
      (all) => {
        controlPlane(all).replicas = 4;
      },
      ['control-plane: refused'],
    ],
    [
      'rollout.after',
      (all) => {
        objectAt(controlPlane(all), 'rollout').after = '2026-11-24T11:59:00Z';
      },
      [cp],
    ],
    [
      'rollout.before',
      (all) => {
        objectAt(controlPlane(all), 'rollout').before = { certificatesExpiryDays: 30 };
      },
      ['control-plane: inPlace'],
    ],
    [
      'rollout.before, long',
      (all) => {
        objectAt(controlPlane(all), 'rollout').before = { certificatesExpiryDays: 4000 };
      },
      [cp],
    ],
    [
      'maxSurge',
      (all) => {
        objectAt(controlPlane(all), 'rollout', 'strategy', 'rollingUpdate').maxSurge = 0;
      },
      ['control-plane: inPlace'],
    ],
    [
      'machineNaming',
      (all) => {
        controlPlane(all).machineNaming = { template: '{{ .kubeadmControlPlane.name }}-{{ .random }}' };
      },
      ['control-plane: inPlace'],
    ],
    [
      'remediation',
      (all) => {
        controlPlane(all).remediation = { maxRetry: 1 };
      },
      ['control-plane: inPlace'],
    ],
    [
      'kubelet arguments',
      (all) => {
        for (const name of ['initConfiguration', 'joinConfiguration']) {
          objectsAt(config(all), name, 'nodeRegistration', 'kubeletExtraArgs').push({ name: 'v', value: '5' });
          (objectAt(config(all), name, 'nodeRegistration').kubeletExtraArgs as Json[]).push({ name: 'v', value: '5' });
        }
      },
      [cp],
    ],
    [
      'certSANs',
      (all) => {
        (objectAt(config(all), 'clusterConfiguration', 'apiServer').certSANs as Json[]).push('x');
      },
      [cp],
    ],
    [
      'dns',
      (all) => {
        objectAt(config(all), 'clusterConfiguration').dns = { imageTag: 'v1.12.0' };
      },
      ['control-plane: inPlace'],
    ],
    [
      'a network',
      (all) => {
        objectAt(all.cluster, 'spec').clusterNetwork = { serviceDomain: 'x' };
      },
      [],
    ],
    [
      'the version of workers',
      (all) => {
        machine(all).version = 'v1.35.1';
      },
      ['f2-md: replaced 2'],
    ],
    [
      'another template of workers',
      (all) => {
        objectAt(machine(all), 'infrastructureRef').name = copy(all, 'DevMachineTemplate', 'f2-w2');
      },
      ['f2-md: replaced 2'],
    ],
    [
      'a failure domain',
      (all) => {
        machine(all).failureDomain = 'a';
      },
      ['f2-md: replaced 2'],
    ],
    [
      'timeouts of workers',
      (all) => {
        machine(all).deletion = { nodeDrainTimeoutSeconds: 1 };
      },
      ['f2-md: inPlace'],
    ],
    [
      'minReadySeconds',
      (all) => {
        machine(all).minReadySeconds = 5;
      },
      ['f2-md: inPlace'],
    ],
    [
      'annotations in the template',
      (all) => {
        objectAt(md(all), 'template', 'metadata').annotations = { a: 'b' };
      },
      ['f2-md: inPlace'],
    ],
    [
      'replicas of workers',
      (all) => {
        md(all).replicas = 1;
      },
      ['f2-md: scaled'],
    ],
    [
      'replicas and version of workers',
      (all) => {
        md(all).replicas = 3;
        machine(all).version = 'v1.35.1';
      },
      ['f2-md: replaced 2'],
    ],
    [
      'OnDelete',
      (all) => {
        objectAt(md(all), 'rollout').strategy = { type: 'OnDelete' };
      },
      ['f2-md: inPlace'],
    ],
    [
      'OnDelete and a version',
      (all) => {
        objectAt(md(all), 'rollout').strategy = { type: 'OnDelete' };
        machine(all).version = 'v1.35.1';
      },
      ['f2-md: onDelete'],
    ],
    [
      'rollout.after of workers',
      (all) => {
        objectAt(md(all), 'rollout').after = '2026-11-24T11:59:00Z';
      },
      ['f2-md: replaced 2'],
    ],
    [
      'the order of deletion',
      (all) => {
        md(all).deletion = { order: 'Oldest' };
      },
      ['f2-md: inPlace'],
    ],
    [
      'the selector',
      (all) => {
        md(all).selector = { matchLabels: { other: 'x' } };
      },
      ['f2-md: refused'],
    ],
    [
      'a label of the MachineDeployment',
      ({ find }) => {
        objectAt(find('MachineDeployment', 'f2-md'), 'metadata').labels = { a: 'b' };
      },
      ['f2-md: inPlace'],
    ],
  ])('%s', async (_, change, expected) => {
    const result = await planned(change, withoutTopology);
    expect(changesIn(result), JSON.stringify(problemsOf(result))).toEqual(expected);
  });
});

describe('releases of an extension, for a Cluster that does not change', () => {
  const change = recordedChanges.find(({ name }) => name === 'E3-only-md-0')!;
  const state = change.after;
  type Operation = { op: string; path: string; value: Json };
  /** What a release answers: the operations by the template that they are for. */
  type Release = (operations: Operation[], item: JsonObject) => Operation[] | JsonObject | undefined;
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

  const released = (release: Release) => {
    const call: CallHook = async (one) => {
      const answer = await answerFrom(change)(one);
      if (answer.is !== 'answered') {
        return answer;
      }
      const old = new Map(objectsAt(answer.response, 'items').map(({ uid, patch }) => [uid, String(patch)]));
      const items = objectsAt(one.request, 'items').flatMap((item): JsonObject[] => {
        const known = JSON.parse(Buffer.from(old.get(item.uid) ?? 'W10=', 'base64').toString()) as Operation[];
        const wanted = release(known, item);
        return wanted === undefined || (Array.isArray(wanted) && wanted.length === 0)
          ? []
          : [
              {
                uid: item.uid ?? '',
                patchType: Array.isArray(wanted) ? 'JSONPatch' : 'JSONMergePatch',
                patch: encoded(wanted),
              },
            ];
      });
      return { ...answer, response: { ...answer.response, items } };
    };
    const world = new World(state, { call });
    return plan(world, world, {
      clusterApiVersion: { major: 1, minor: 13 },
      now: new Date('2026-11-24T12:00:00Z'),
    });
  };
  const isFor = (item: JsonObject, kind: string) => objectAt(item, 'object').kind === kind;
  const isOfWorkers = (item: JsonObject) => objectAt(item, 'holderReference').kind === 'MachineDeployment';
  const more = (operation: Operation, matches: (item: JsonObject) => boolean): Release => {
    return (operations, item) => (matches(item) ? [...operations, operation] : operations);
  };
  const addition = (path: string, value: Json): Operation => ({ op: 'add', path: `/spec/template/${path}`, value });

  test.each<[string, Release, string[]]>([
    ['the same', (operations) => operations, []],
    [
      'the same, as merge patches',
      (operations) =>
        operations.length === 0
          ? []
          : operations.reduceRight<JsonObject>((_, { path, value }) => {
              const parts = path.split('/').slice(1);
              return parts.reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject;
            }, {}),
      [],
    ],
    [
      'the same, value by value',
      (operations) =>
        operations.flatMap(({ path, value }) => [
          { op: 'add', path, value: [] },
          ...(value as Json[]).map((one) => ({ op: 'add', path: `${path}/-`, value: one })),
        ]),
      [],
    ],
    ['nothing any more', () => [], ['control-plane: replaced 3', 'md-0: replaced 3', 'md-1: replaced 1']],
    [
      'nothing for workers',
      (operations, item) => (isOfWorkers(item) ? [] : operations),
      ['md-0: replaced 3', 'md-1: replaced 1'],
    ],
    [
      'more for the control plane',
      more(addition('spec/kubeadmConfigSpec/verbosity', 5), (item) => isFor(item, 'KubeadmControlPlaneTemplate')),
      ['control-plane: replaced 3'],
    ],
    [
      'another size of workers',
      more(
        addition('spec/backend/inMemory/vm/provisioning/startupJitter', '0.1'),
        (item) => isFor(item, 'DevMachineTemplate') && isOfWorkers(item),
      ),
      ['md-0: replaced 3', 'md-1: replaced 1'],
    ],
    [
      'another infrastructure cluster',
      more(addition('spec/controlPlaneEndpoint', { host: 'x', port: 1 }), (item) => isFor(item, 'DevClusterTemplate')),
      [],
    ],
    [
      'labels of templates, which are dropped in 1.13',
      more({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }, isOfWorkers),
      [],
    ],
    [
      'the replicas of the control plane, which are taken back',
      more(addition('spec/replicas', 5), (item) => isFor(item, 'KubeadmControlPlaneTemplate')),
      [],
    ],
  ])('%s', async (_, release, expected) => {
    const result = await released(release);
    expect(changesIn(result), JSON.stringify(problemsOf(result))).toEqual(expected);
  });

  test('a patch of an unknown item stops the Cluster', async () => {
    const world = new World(state, {
      call: async ({ handler }) => ({
        is: 'answered',
        handler,
        response: { items: [{ uid: 'other', patchType: 'JSONPatch', patch: encoded([]) }] },
      }),
    });
    const result = await plan(world, world, { now: new Date('2026-11-24T12:00:00Z') });
    expect(changesIn(result)).toEqual(allStopped);
    expect(problemsOf(result).join()).toMatch(/unable to find corresponding request item for patch$/);
  });
});
