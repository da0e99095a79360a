import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { GroupObjects } from '../../../src/topology/rollout/index.ts';
import { expectLinear } from '../../support/work.ts';
import { fieldsOf, infrastructure, planOf } from './groups.ts';

const foreign: GroupObjects = {
  object: {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta1',
    kind: 'OtherControlPlane',
    metadata: { name: 'cp', namespace: 'default' },
    spec: { replicas: 3, version: 'v1.34.0', serverConfig: { cni: 'cilium' } },
  },
  bootstrap: undefined,
  infrastructure: infrastructure('cp-1'),
};

describe('control planes of other kinds decide for themselves', () => {
  test('the fields that change are named, and nothing is claimed', async () => {
    const plan = await planOf({
      of: foreign,
      after: { metadata: { labels: { a: 'b' } }, spec: { version: 'v1.35.0', serverConfig: { cni: 'calico' } } },
      templates: { infrastructure: infrastructure('cp-2', { size: 'large' }) },
    });
    expect(plan).toMatchObject({
      verdict: 'unknown',
      machines: { before: 3, after: 3, replaced: 0, inPlace: 0 },
      manner: ['OtherControlPlane (controlplane.cluster.x-k8s.io) decides what becomes of Machines'],
    });
    expect(fieldsOf(plan)).toEqual([
      'metadata.labels.a',
      'spec.version',
      'spec.serverConfig.cni',
      'spec.template.spec.size',
    ]);
  });

  test.each<[string, JsonObject, string]>([
    ['nothing', {}, 'unchanged'],
    ['replicas alone', { spec: { replicas: 5 } }, 'scaled'],
    ['replicas and more', { spec: { replicas: 5, version: 'v1.35.0' } }, 'unknown'],
  ])('%s', async (_, after, verdict) => {
    expect(await planOf({ of: foreign, after })).toMatchObject({ verdict, kind: 'OtherControlPlane' });
  });
});

test('labels with dots and slashes are one segment of a path', async () => {
  const after = { spec: { machineTemplate: { metadata: { labels: { 'example.com/a': 'b' } } } } };
  const before = { spec: { machineTemplate: { metadata: { labels: { c: 'd' } } } } };
  expect(fieldsOf(await planOf({ before, after }))).toEqual(['spec.machineTemplate.metadata.labels[example.com/a]']);
});

test('it takes time in proportion to Machines and fields', async () => {
  await expectLinear(10_000, async (size) => {
    const given = (content: string): JsonObject => ({
      spec: {
        replicas: size,
        kubeadmConfigSpec: { files: Array.from({ length: size }, (_, index) => ({ path: `/${index}`, content })) },
      },
    });
    expect(await planOf({ before: given('a'), after: given('b') })).toMatchObject({ machines: { replaced: size } });
  });
});
