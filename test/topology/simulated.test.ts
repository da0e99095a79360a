import { expect, test } from 'vitest';
import { fieldAt, type JsonObject, objectAt } from '../../src/kubernetes/index.ts';
import { newestKnownRelease } from '../../src/runtimehooks/index.ts';
import { type HookCall, readClass, SimulatedCluster, World } from '../../src/topology/index.ts';
import { manifests } from './small-class.ts';

/** A Cluster of the small class, which is reconciled and rolled out. */
function simulatedCluster() {
  const all = manifests();
  const blueprint = readClass(new World(Object.values(all) as unknown as JsonObject[]), all.clusterClass);
  blueprint.patches = [];
  const options = { release: newestKnownRelease, schemaOf: () => undefined, newUid: () => '' };
  const made = new SimulatedCluster(blueprint, options);
  const cluster = all.cluster as JsonObject;
  const topology = objectAt(cluster, 'spec', 'topology');
  const calls: HookCall[] = [];
  const steps: Parameters<Parameters<SimulatedCluster['rollOut']>[2]['follow']>[0][] = [];
  return {
    group: objectAt(topology, 'workers', 'machineDeployments', 0),
    calls,
    steps,
    /** Reconciles the Cluster at a version, and rolls out what has changed. Returns the verdicts. */
    async reconcile(version: string) {
      topology.version = version;
      const workers = made.workers(cluster).map((worker) => ({ ...worker, version, isPending: false }));
      const noExtension = () => Promise.reject(new Error('no extension patches'));
      await made.desire(cluster, { controlPlane: version, workers, upgradeStep: undefined }, noExtension);
      made.write(cluster);
      const verdicts: [string, string | undefined][] = [];
      for (const group of made.outdated) {
        const plan = await made.rollOut(group, cluster, {
          now: new Date('2026-11-26T00:00:00Z'),
          call: async (call) => {
            calls.push(call);
            return { is: 'none' };
          },
          follow: async (step) => {
            steps.push(step);
          },
        });
        verdicts.push([group.topologyName ?? 'control-plane', plan?.verdict]);
      }
      expect(made.outdated).toEqual([]);
      return verdicts;
    },
  };
}

test('Machines are made with the first write, and a group that is scaled has as many of them in its next rollout', async () => {
  const { reconcile, group, calls, steps } = simulatedCluster();
  expect(await reconcile('v1.34.0')).toEqual([]);
  group.replicas = 4;
  expect(await reconcile('v1.34.0')).toEqual([['md', 'scaled']]);
  expect([calls, steps]).toEqual([[], []]);
  expect(await reconcile('v1.35.0')).toEqual([
    ['control-plane', 'replaced'],
    ['md', 'replaced'],
  ]);
  const asked = calls.find(({ hook }) => hook === 'CanUpdateMachineSet')?.request;
  expect(fieldAt(asked, 'current', 'machineSet', 'spec', 'replicas')).toBe(4);
  // Three Machines of the control plane, one after the other, and four workers.
  expect(steps.map(({ is }) => is)).toEqual(Array.from({ length: 7 }, () => ['made', 'deleted']).flat());
  expect(new Set(steps.map(({ name }) => name)).size).toBe(14);
});
