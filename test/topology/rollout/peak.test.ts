import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { layered, plan, World } from '../../../src/topology/index.ts';
import { type Manifests, planned, template } from '../small-class.ts';

const topology = ({ cluster }: Manifests) => objectAt(cluster.spec, 'topology');
const withGroups = (rollouts: readonly JsonObject[]) => (all: Manifests) => {
  delete all.clusterClass.spec.patches;
  topology(all).workers = {
    machineDeployments: rollouts.map((rollingUpdate, index) => ({
      class: 'worker',
      name: `md-${index}`,
      replicas: 4,
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate } },
    })),
  };
};
const upgrade = (all: Manifests) => {
  topology(all).version = 'v1.35.0';
};
const peakOf = async (change: (all: Manifests) => void, prepare: (all: Manifests) => void) =>
  (await planned(change, { prepare })).clusters[0]?.peak;

describe('groups that roll together', () => {
  const two = withGroups([{ maxSurge: 3 }, { maxSurge: '25%' }, { maxSurge: 0, maxUnavailable: 1 }]);

  test('a change of templates rolls all at once', async () => {
    const peak = await peakOf((all) => {
      Object.assign(objectAt(all.workerMachines.spec, 'template', 'spec'), { size: 'tiny' });
      Object.assign(objectAt(all.controlPlaneMachines.spec, 'template', 'spec'), { size: 'tiny' });
    }, two);
    expect(peak).toEqual({ order: [['control-plane', 'md-0', 'md-1', 'md-2']], atOnce: 4, surge: 5 });
  });

  test.each<[string | undefined, number, number]>([
    [undefined, 1, 3],
    ['2', 2, 4],
    ['10', 3, 4],
  ])('an upgrade rolls the control plane first, then %s MachineDeployments at a time', async (concurrency, atOnce, surge) => {
    const peak = await peakOf(upgrade, (all) => {
      two(all);
      if (concurrency !== undefined) {
        all.cluster.metadata.annotations = { 'topology.cluster.x-k8s.io/upgrade-concurrency': concurrency };
      }
    });
    const order = [['control-plane'], ['md-0', 'md-1', 'md-2']];
    expect(peak).toEqual({ order, atOnce, surge, versions: ['v1.34.0', 'v1.35.0'] });
  });

  test('without a topology, MachinePools do not wait for the control plane', async () => {
    const objects = (version: string): JsonObject[] => {
      const machine = { clusterName: 'cluster', version, bootstrap: { dataSecretName: 'a' } };
      const reference = (apiGroup: string, kind: string) => ({ apiGroup, kind, name: kind.toLowerCase() });
      const infrastructure = 'infrastructure.cluster.x-k8s.io';
      const object = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
        apiVersion,
        kind,
        metadata: { name: kind.toLowerCase(), namespace: 'default' },
        spec,
      });
      return [
        object('cluster.x-k8s.io/v1beta2', 'Cluster', {
          controlPlaneRef: reference('controlplane.cluster.x-k8s.io', 'KubeadmControlPlane'),
        }),
        object('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', {
          version,
          replicas: 3,
          machineTemplate: { spec: { infrastructureRef: reference(infrastructure, 'SmallMachineTemplate') } },
        }),
        object('cluster.x-k8s.io/v1beta2', 'MachinePool', {
          clusterName: 'cluster',
          replicas: 3,
          template: {
            spec: { ...machine, infrastructureRef: reference(infrastructure, 'DockerMachinePool') },
          },
        }),
        object('cluster.x-k8s.io/v1beta2', 'MachineDeployment', {
          clusterName: 'cluster',
          replicas: 3,
          template: {
            spec: { ...machine, infrastructureRef: reference(infrastructure, 'SmallMachineTemplate') },
          },
        }),
        object(`${infrastructure}/v1beta2`, 'DockerMachinePool', {}),
      ];
    };
    const from = objects('v1.34.0');
    const { clusters } = await plan(new World(from), new World(layered(from, objects('v1.35.0'))), { now: new Date() });
    expect(clusters[0]?.peak?.order).toEqual([['control-plane', 'machinepool'], ['machinedeployment']]);
  });

  test('a group alone, and groups that stay, are no peak', async () => {
    const other = template('infrastructure.example.com/v1', 'SmallMachineTemplate', 'small-worker', { size: 'tiny' });
    const change = (all: Manifests) => {
      all.workerMachines.spec = other.spec;
    };
    expect(await peakOf(change, withGroups([{ maxSurge: 1 }]))).toBeUndefined();
    expect(await peakOf(() => {}, two)).toBeUndefined();
    const paused = (all: Manifests) => {
      two(all);
      all.cluster.spec.paused = true;
    };
    expect(await peakOf(upgrade, paused)).toBeUndefined();
  });
});
