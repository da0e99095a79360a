import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { merged } from '../rollout/groups.ts';
import { judged, machineOf, outcomeOf } from './judging.ts';

const controlPlane: JsonObject = {
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'KThreesControlPlane',
  metadata: { name: 'cp', namespace: 'default' },
  spec: {
    replicas: 3,
    version: 'v1.33.2+k3s1',
    machineTemplate: {
      infrastructureRef: {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'InfraMachineTemplate',
        name: 'cp-1',
      },
    },
    kthreesConfigSpec: {
      serverConfig: { tlsSan: ['a.example.com'] },
      agentConfig: { nodeLabels: ['a=b'] },
      files: [{ path: '/etc/a', content: 'a' }],
    },
  },
};

const path = 'spec.kthreesConfigSpec';
const config = (kthreesConfigSpec: JsonObject): JsonObject => ({ kthreesConfigSpec });

describe('what a KThreesControlPlane replaces Machines for, of those that it would make', () => {
  test.each<[what: string, spec: JsonObject, expected: string]>([
    ['another version', { version: 'v1.34.1+k3s1' }, 'replaced 3: spec.version'],
    ['another release of k3s', { version: 'v1.33.2+k3s2' }, 'replaced 3: spec.version'],
    [
      'another template',
      { machineTemplate: { infrastructureRef: { name: 'cp-2' } } },
      'replaced 3: spec.machineTemplate.infrastructureRef.name',
    ],
    ['serverConfig', config({ serverConfig: { tlsSan: ['b'] } }), `replaced 3: ${path}.serverConfig.tlsSan`],
    ['agentConfig', config({ agentConfig: { nodeTaints: ['a'] } }), `replaced 3: ${path}.agentConfig.nodeTaints`],
    ['files', config({ files: [] }), `replaced 3: ${path}.files`],
    ['commands', config({ postK3sCommands: ['echo'] }), `replaced 3: ${path}.postK3sCommands`],
    [
      'a pointer to a zero value',
      config({ serverConfig: { disableCloudController: false } }),
      `replaced 3: ${path}.serverConfig.disableCloudController`,
    ],
    [
      'a default in words',
      config({ serverConfig: { cloudProviderName: 'external' } }),
      `inPlace: ${path}.serverConfig.cloudProviderName`,
    ],
    [
      'a zero value that Go omits',
      config({ agentConfig: { airGapped: false } }),
      `inPlace: ${path}.agentConfig.airGapped`,
    ],
    ['the version of k3s in the config does not count', config({ version: 'v1' }), `inPlace: ${path}.version`],
    [
      'labels of Machines',
      { machineTemplate: { metadata: { labels: { a: 'b' } } } },
      'inPlace: spec.machineTemplate.metadata',
    ],
    ['timeouts', { machineTemplate: { nodeDrainTimeout: '1m' } }, 'inPlace: spec.machineTemplate.nodeDrainTimeout'],
    ['rolloutAfter', { rolloutAfter: '2026-07-31T00:00:00Z' }, 'replaced 3: spec.rolloutAfter'],
    ['replicas', { replicas: 5 }, 'scaled: spec.replicas'],
    [
      'a field that is not known here',
      { newField: 1 },
      'unknown: what spec.newField of KThreesControlPlane does to Machines is not known',
    ],
  ])('%s', async (_, spec, expected) => {
    expect(outcomeOf(await judged(controlPlane, { spec }))).toBe(expected);
  });

  test('what a machineTemplate that was not there has is written to Machines', async () => {
    const { machineTemplate, ...spec } = controlPlane.spec as JsonObject;
    const before = {
      ...controlPlane,
      spec: { ...spec, infrastructureTemplate: { kind: 'InfraMachineTemplate', name: 'cp-1' } },
    };
    const metadata = { labels: { a: 'b' } };
    const { machines, manner } = await judged(before, {
      spec: { machineTemplate: { metadata, nodeDrainTimeout: '1m' } },
    });
    expect(machines.inPlace).toBe(3);
    expect(manner).toEqual([
      'spec.machineTemplate.metadata: written to Machines, KThreesConfigs and InfraMachines',
      'spec.machineTemplate.nodeDrainTimeout: written to Machines',
    ]);
  });

  test('a new Machine comes first, and not before the time', async () => {
    expect((await judged(controlPlane, { spec: { rolloutAfter: '2026-08-02T00:00:00Z' } })).manner).toEqual([
      'one after the other, a new Machine comes first (maxSurge 1)',
      'not before 2026-08-02T00:00:00Z',
    ]);
  });
});

describe('Machines that exist', () => {
  const spec = {
    serverConfig: { tlsSan: ['a.example.com'], disableCloudController: true, cloudProviderName: 'external' },
    agentConfig: { nodeLabels: ['a=b'] },
    files: [{ path: '/etc/a', content: 'a' }],
    version: 'v1.33.2+k3s1',
  };
  const machine = (more: Partial<Parameters<typeof machineOf>[1]> = {}) =>
    machineOf('m', { version: 'v1.33.2+k3s1', config: { kind: 'KThreesConfig', spec }, clonedFrom: 'cp-1', ...more });

  test.each<[what: string, more: Parameters<typeof machine>[0], change: JsonObject, expected: string]>([
    ['the config is up to date', {}, { replicas: 1 }, 'unchanged'],
    ['a config that differs', {}, config({ files: null }), `replaced 1: ${path}.files`],
    [
      'without the annotations of the template, another one does not count',
      { clonedFrom: undefined as unknown as string },
      { machineTemplate: { infrastructureRef: { name: 'cp-2' } } },
      'inPlace',
    ],
    ['made before rolloutAfter', {}, { rolloutAfter: '2026-02-01T00:00:00Z' }, 'replaced 1: spec.rolloutAfter'],
    ['made after rolloutAfter', {}, { rolloutAfter: '2025-02-01T00:00:00Z' }, 'inPlace: spec.rolloutAfter'],
  ])('%s', async (_, more, change, expected) => {
    const before = merged(controlPlane, { spec: { replicas: 1 } });
    expect(outcomeOf(await judged(before, { spec: change }, [machine(more)]))).toBe(expected);
  });
});
