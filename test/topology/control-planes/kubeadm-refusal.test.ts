import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { controlPlaneOf } from '../../../src/topology/control-planes/index.ts';
import { plan, World } from '../../../src/topology/index.ts';
import { controlPlane, merged } from '../rollout/groups.ts';

const controlPlaneRefusal = (before: JsonObject, after: JsonObject, isStep: boolean) =>
  controlPlaneOf(before)?.refusal?.(before, after, isStep);

/** The fields that are refused, of a control plane that is changed by a JSON merge patch. */
function refused(patch: JsonObject, before: JsonObject = {}, isStep = true): string[] {
  const old = merged(controlPlane.object, before);
  const refusal = controlPlaneRefusal(old, merged(old, patch), isStep) ?? '';
  return [...refusal.matchAll(/spec\.[^\s[\]]+: [A-Z][a-z ]+: [^,\]]+/g)].map(([problem]) => problem);
}

const config = (kubeadmConfigSpec: JsonObject): JsonObject => ({ spec: { kubeadmConfigSpec } });
const cluster = (clusterConfiguration: JsonObject) => config({ clusterConfiguration });
const surge = (maxSurge: number) => ({ rollout: { strategy: { rollingUpdate: { maxSurge } } } });

describe('the webhook takes', () => {
  test.each<[string, JsonObject, JsonObject?]>([
    ['nothing new', {}],
    ['labels and annotations', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }],
    ['another version', { spec: { version: 'v1.35.2' } }],
    ['an older version', { spec: { version: 'v1.31.0' } }],
    ['five replicas', { spec: { replicas: 5 } }],
    ['two, with an external etcd', { spec: { replicas: 2 } }, cluster({ etcd: { external: { endpoints: ['e'] } } })],
    ['maxSurge 0', { spec: surge(0) }],
    ['arguments', cluster({ apiServer: { extraArgs: [] }, etcd: { local: { dataDir: '/d' } } })],
    ['files that go', config({ files: null as never }), config({ files: [{ path: '/a' }] })],
    ['gates', cluster({ featureGates: { A: true } })],
    ['empty fields', cluster({ certificatesDir: '' })],
    ['machines', { spec: { machineTemplate: { spec: { infrastructureRef: { name: 'other' } } } } }],
  ])('%s', (_, patch, before) => {
    expect(refused(patch, before)).toEqual([]);
  });
});

describe('the webhook refuses', () => {
  const modified = (field: string) => `spec.${field}: Forbidden: cannot be modified`;
  const inCluster = (field: string) => modified(`kubeadmConfigSpec.clusterConfiguration.${field}`);

  test.each<[string, JsonObject, string[], JsonObject?]>([
    [
      'four replicas',
      { spec: { replicas: 4 } },
      ['spec.replicas: Forbidden: cannot be an even number when etcd is stacked'],
    ],
    [
      'none',
      { spec: { replicas: 0 } },
      [
        'spec.replicas: Forbidden: cannot be less than or equal to 0',
        'spec.replicas: Forbidden: cannot be an even number when etcd is stacked',
      ],
    ],
    [
      'maxSurge 0 of a single Machine',
      { spec: { replicas: 1, ...surge(0) } },
      ['spec.rollout.strategy.rollingUpdate: Required value: when KubeadmControlPlane is configured to scale-in'],
    ],
    [
      'maxSurge 2',
      { spec: surge(2) },
      ['spec.rollout.strategy.rollingUpdate.maxSurge: Required value: value must be 1 or 0'],
    ],
    [
      'two minors at once',
      { spec: { version: 'v1.36.0' } },
      ['spec.version: Forbidden: cannot update Kubernetes version from v1.34.0 to v1.36.0'],
    ],
    ['another folder of certificates', cluster({ certificatesDir: '/a' }), [inCluster('certificatesDir')]],
    ['another endpoint', cluster({ controlPlaneEndpoint: 'a' }), [inCluster('controlPlaneEndpoint')]],
    [
      'another life of the CA',
      cluster({ caCertificateValidityPeriodDays: 9 }),
      [inCluster('caCertificateValidityPeriodDays')],
    ],
    [
      'a configuration that goes as a whole',
      config({ joinConfiguration: null as never }),
      [modified('kubeadmConfigSpec.joinConfiguration')],
    ],
    [
      'an external etcd',
      cluster({ etcd: { external: { endpoints: ['e'] } } }),
      [
        'spec.kubeadmConfigSpec.clusterConfiguration.etcd.external: Forbidden: cannot change between external and local etcd',
      ],
    ],
    [
      'a name and an image: in the order in which the webhook looks at them',
      merged({ spec: { machineNaming: { template: 'a' } } }, cluster({ dns: { imageTag: '!' } })),
      [
        'spec.machineNaming.template: Invalid value: "a": invalid template',
        'spec.kubeadmConfigSpec.clusterConfiguration.dns.imageTag: Forbidden: tag ! is invalid',
      ],
    ],
    [
      'names that are not random',
      { spec: { machineNaming: { template: 'a' } } },
      ['spec.machineNaming.template: Invalid value: "a": invalid template'],
    ],
  ])('%s', (_, patch, problems, before) => {
    expect(refused(patch, before)).toEqual(problems);
  });

  test('not the sum of the steps of an upgrade', () => {
    expect(refused({ spec: { version: 'v1.36.0' } }, {}, false)).toEqual([]);
  });

  test('in its words', () => {
    expect(controlPlaneRefusal(controlPlane.object, merged(controlPlane.object, { spec: { replicas: 2 } }), true)).toBe(
      'admission webhook "validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io" denied the request: KubeadmControlPlane.cluster.x-k8s.io "cp" is invalid: spec.replicas: Forbidden: cannot be an even number when etcd is stacked',
    );
  });
});

test('in the plan of a Cluster without a topology, the group is refused', async () => {
  const owned = { labels: { 'cluster.x-k8s.io/cluster-name': 'c' } };
  const wholeCluster: JsonObject = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name: 'c', namespace: 'default' },
    spec: { controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'cp' } },
  };
  const object = merged(controlPlane.object, { metadata: owned });
  const wanted = merged(object, { spec: { replicas: 4 } });
  const { clusters } = await plan(new World([wholeCluster, object]), new World([wholeCluster, wanted]), {
    now: new Date('2026-06-01T00:00:00Z'),
  });
  expect(clusters[0]?.groups).toMatchObject([
    {
      group: 'control-plane',
      verdict: 'refused',
      machines: { before: 3, after: 3, replaced: 0 },
      problems: [{ text: expect.stringContaining('cannot be an even number') }],
    },
  ]);
  expect(objectAt(wanted, 'spec').replicas).toBe(4);
});
