import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { ownKindRefusal } from '../../../src/topology/refusals/index.ts';
import { type Manifests, patch, planned, problemsOf, verdictsOf } from '../small-class.ts';

const object = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'one', namespace: 'default' },
  spec,
});
const config = (spec: JsonObject) => object('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfig', spec);
const controlPlane = (kubeadmConfigSpec: JsonObject, others: JsonObject = {}) =>
  object('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', { replicas: 3, kubeadmConfigSpec, ...others });
const healthCheck = (spec: JsonObject) =>
  object('cluster.x-k8s.io/v1beta2', 'MachineHealthCheck', {
    clusterName: 'one',
    selector: { matchLabels: { a: 'b' } },
    ...spec,
  });
const machineDeployment = (spec: JsonObject, version = 'v1beta2', kind = 'MachineDeployment') =>
  object(`cluster.x-k8s.io/${version}`, kind, {
    clusterName: 'one',
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { clusterName: 'one' } },
    ...spec,
  });
const secret = { secret: { name: 's', key: 'k' } };
const rollingUpdate = { strategy: { rollingUpdate: { maxSurge: 1 } } };

describe('webhooks of kinds besides Clusters and classes', () => {
  test.each<[string, JsonObject, string[]]>([
    ['a config', config({ files: [{ path: '/a', content: 'x' }], users: [{ name: 'u', passwdFrom: secret }] }), []],
    [
      'a file twice',
      config({
        files: [
          { path: '/a', content: 'x' },
          { path: '/a', content: 'y' },
        ],
      }),
      ['spec.files[1].path'],
    ],
    [
      'a file with two contents',
      config({ files: [{ path: '/a', content: 'x', contentFrom: secret }] }),
      ['spec.files[0]'],
    ],
    [
      'a secret without a key',
      config({ files: [{ path: '/a', contentFrom: { secret: { name: 's' } } }] }),
      ['spec.files[0].contentFrom.secret.key'],
    ],
    ['two passwords', config({ users: [{ name: 'u', passwd: 'p', passwdFrom: secret }] }), ['spec.users[0]']],
    ['Ignition without its format', config({ ignition: { containerLinuxConfig: {} } }), ['spec.format']],
    [
      'what Ignition cannot do',
      config({ format: 'ignition', bootCommands: ['a'], files: [{ path: '/a', content: 'x', encoding: 'gzip' }] }),
      ['spec.files[0].encoding', 'spec.bootCommands'],
    ],
    [
      'a disk of 110 %',
      config({ diskSetup: { partitions: [{ device: '/d', diskLayout: [{ percentage: 60 }, { percentage: 50 }] }] } }),
      ['spec.diskSetup.partitions[0].diskLayout'],
    ],
    [
      'a MachineDeployment whose labels and selector its webhook completes',
      machineDeployment({
        selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'one', a: 'b' } },
      }),
      [],
    ],
    [
      'one without a selector, in v1beta1',
      machineDeployment(
        { selector: { matchLabels: null, matchExpressions: null }, template: { spec: { clusterName: 'one' } } },
        'v1beta1',
      ),
      [],
    ],
    [
      'a MachineHealthCheck that selects nothing',
      healthCheck({ selector: { matchLabels: null, matchExpressions: null } }),
      ['spec.selector'],
    ],
    ['a control plane', controlPlane({}), []],
    ['an even number', controlPlane({}, { replicas: 2 }), ['spec.replicas']],
    [
      'another timeout for the first Machine',
      controlPlane({ initConfiguration: { timeouts: { controlPlaneComponentHealthCheckSeconds: 300 } } }),
      ['initConfiguration', 'joinConfiguration'].map(
        (place) => `spec.kubeadmConfigSpec.${place}.timeouts.controlPlaneComponentHealthCheckSeconds`,
      ),
    ],
    [
      'a tag that is none, and two kinds of etcd',
      controlPlane({
        clusterConfiguration: {
          dns: { imageTag: 'v1@a' },
          etcd: { local: { dataDir: '/d' }, external: { endpoints: ['e'] } },
        },
      }),
      ['dns.imageTag', 'etcd.local'].map((field) => `spec.kubeadmConfigSpec.clusterConfiguration.${field}`),
    ],
    [
      'certificates that outlive their CA',
      controlPlane({ clusterConfiguration: { certificateValidityPeriodDays: 4000 } }, { rollout: rollingUpdate }),
      ['spec.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays'],
    ],
    ['a MachineDeployment', machineDeployment({}), []],
    [
      'one that neither goes below its replicas nor above',
      machineDeployment({ rollout: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } }),
      ['spec.rollout.strategy.rollingUpdate'],
    ],
    [
      'the same in v1beta1',
      machineDeployment({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }, 'v1beta1'),
      ['spec.rollout.strategy.rollingUpdate'],
    ],
    [
      'one with a count of remediations that is none',
      machineDeployment({ remediation: { maxInFlight: 'a' } }),
      ['spec.remediation.maxInFlight'],
    ],
    [
      'one whose Machines would have one name',
      machineDeployment({ machineNaming: { template: '{{ .machineSet.name }}' } }),
      ['spec.machineNaming.template'],
    ],
    ['one of another Cluster than its Machines', machineDeployment({ clusterName: 'two' }), ['spec.clusterName']],
    [
      'one that does not select its Machines',
      machineDeployment({ selector: { matchLabels: { a: 'c' } } }),
      ['spec.template.metadata.labels'],
    ],
    [
      'one with a reserved taint',
      machineDeployment({
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { clusterName: 'one', taints: [{ key: 'node.cluster.x-k8s.io/uninitialized' }] },
        },
      }),
      ['spec.template.spec.taints[0].key'],
    ],
    ...(['MachineDeployment', 'MachinePool'] as const).flatMap((kind): [string, JsonObject, string[]][] =>
      [
        ['v1.34.1', []],
        ['1.34.1', []],
        ['v1.34', ['spec.template.spec.version']],
      ].map(([version, fields]) => [
        `a ${kind} of version ${version}`,
        machineDeployment(
          { template: { metadata: { labels: { a: 'b' } }, spec: { clusterName: 'one', version: version as string } } },
          'v1beta2',
          kind,
        ),
        fields as string[],
      ]),
    ),
    [
      'a MachinePool of another Cluster than its Machines',
      machineDeployment({ clusterName: 'two' }, 'v1beta2', 'MachinePool'),
      ['spec.clusterName'],
    ],
    ['a health check', healthCheck({}), []],
    ['one of all Machines', healthCheck({ selector: {} }), ['spec.selector']],
    [
      'one of another Cluster, that starts too soon',
      healthCheck({
        selector: { matchLabels: { 'cluster.x-k8s.io/cluster-name': 'two' } },
        checks: { nodeStartupTimeoutSeconds: 10 },
      }),
      ['spec.selector', 'spec.checks.nodeStartupTimeoutSeconds'],
    ],
    ['a kind of somebody else', object('example.com/v1beta2', 'KubeadmConfig', { ignition: { a: {} } }), []],
  ])('%s', (_, written, fields) => {
    expect((ownKindRefusal(written, undefined)?.causes ?? []).map(({ field }) => field)).toEqual(fields);
  });

  test('name themselves, and the group that they write', () => {
    expect(ownKindRefusal(controlPlane({}, { replicas: 0 }), undefined)?.message).toBe(
      'admission webhook "validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io" denied the request: KubeadmControlPlane.cluster.x-k8s.io "one" is invalid: [spec.replicas: Forbidden: cannot be less than or equal to 0, spec.replicas: Forbidden: cannot be an even number when etcd is stacked]',
    );
  });
});

test('a patch that writes a file twice stops its Cluster', async () => {
  const files = ['x', 'y'].map((content) => ({ path: '/a', content }));
  const plan = await planned(
    ({ clusterClass }: Manifests) => {
      (clusterClass.spec.patches as JsonObject[]) = [patch('files', 'spec/files', { value: files })];
    },
    {
      prepare: ({ clusterClass }: Manifests) => {
        delete clusterClass.spec.patches;
      },
    },
  );
  expect(verdictsOf(plan).md).toBe('stopped');
  expect(problemsOf(plan)).toEqual([expect.stringContaining('path property must be unique among all files')]);
});
