import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { bootstrap, type Case, controlPlane, deployment, machineSet, merged, planOf } from './groups.ts';

const planeOf = (version: string): JsonObject => merged(controlPlane.object, { spec: { version } });
const versionOf = (version: string): JsonObject => ({ spec: { template: { spec: { version } } } });
const failureDomain = { spec: { template: { spec: { failureDomain: 'b' } } } };
const skip = (checks: string): JsonObject => ({
  metadata: { annotations: { 'machineset.cluster.x-k8s.io/skip-preflight-checks': checks } },
});
const machines = [machineSet('a', ['m-1', 'm-2', 'm-3'])];

/** A failure domain for Machines of v1.34 below a control plane of another version. */
const judge = (version: string, given: Case = {}) =>
  planOf({
    of: deployment,
    after: failureDomain,
    machineSets: machines,
    ...given,
    change: { ...given.change, controlPlane: planeOf(version) },
  });

describe('a MachineSet makes no Machines', () => {
  test('of another minor than the control plane, with kubeadm: nothing happens', async () => {
    const plan = await judge('v1.35.1');
    expect(plan).toMatchObject({
      verdict: 'unchanged',
      machines: { before: 3, after: 3, replaced: 0 },
      held: { is: 'blocked', verdict: 'replaced', machines: { replaced: 3 }, replaces: ['m-1', 'm-2', 'm-3'] },
      causes: [{ field: 'spec.template.spec.failureDomain' }],
    });
    expect(plan).not.toHaveProperty('replaces');
    expect(plan.manner?.[0]).toBe(
      'no Machine is made: Scale up on hold because MachineSet version (1.34.0) and ControlPlane version (1.35.1) do not conform to kubeadm version skew policy as kubeadm only supports joining with the same major+minor version as the control plane ("KubeadmVersionSkew" preflight check failed) (unless the feature gate MachineSetPreflightChecks is off)',
    );
  });

  test.each<[string, string, Case, string[]]>([
    ['the same minor', 'v1.34.7', {}, []],
    ['a control plane that is older', 'v1.33.0', {}, ['KubernetesVersionSkew', 'KubeadmVersionSkew']],
    ['a control plane that is four minors newer', 'v1.38.0', {}, ['KubernetesVersionSkew', 'KubeadmVersionSkew']],
    ['a control plane that is three minors newer', 'v1.37.0', {}, ['KubeadmVersionSkew']],
    ['one check that is skipped', 'v1.33.0', { before: skip('KubeadmVersionSkew') }, ['KubernetesVersionSkew']],
    ['two checks that are skipped', 'v1.33.0', { before: skip('KubeadmVersionSkew, KubernetesVersionSkew') }, []],
    ['all checks skipped', 'v1.33.0', { before: skip('All') }, []],
    [
      'all checks skipped at the bootstrap template',
      'v1.35.0',
      {
        templates: {
          bootstrap: { ...bootstrap('b-1'), metadata: { name: 'b-1', ...objectAt(skip('All'), 'metadata') } },
        },
      },
      [],
    ],
    [
      'the same, before Cluster API 1.14',
      'v1.35.0',
      {
        templates: {
          bootstrap: { ...bootstrap('b-1'), metadata: { name: 'b-1', ...objectAt(skip('All'), 'metadata') } },
        },
        options: { clusterApiVersion: { major: 1, minor: 13 } },
      },
      ['KubeadmVersionSkew'],
    ],
    [
      'a topology, with another patch release',
      'v1.34.1',
      { change: { cluster: { kind: 'Cluster', metadata: { name: 'c' }, spec: { topology: { version: 'v1.34.1' } } } } },
      ['ControlPlaneVersionSkew'],
    ],
  ])('%s', async (_, version, given, checks) => {
    const plan = await judge(version, given);
    const named = [...(plan.manner ?? []).join(' ').matchAll(/"(\w+)" preflight check failed/g)].map(
      ([, name]) => name,
    );
    expect(named).toEqual(checks);
    expect(plan.machines.replaced).toBe(checks.length === 0 ? 3 : 0);
  });

  test('other bootstrap providers than kubeadm', async () => {
    const other = { spec: { template: { spec: { bootstrap: { configRef: { kind: 'RKE2ConfigTemplate' } } } } } };
    expect(await judge('v1.35.0', { before: other })).toMatchObject({ verdict: 'replaced' });
  });

  test('old Machines go as far as maxUnavailable allows', async () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 2 };
    const before = { spec: { rollout: { strategy: { rollingUpdate } } } };
    const plan = await judge('v1.35.0', { before });
    expect(plan).toMatchObject({ verdict: 'scaled', machines: { before: 3, after: 1, replaced: 0 } });
    expect(plan.manner?.[0]).toMatch(/^2 Machines deleted, up to maxUnavailable, and no Machine is made: /);
  });

  test.each<[string, JsonObject, object]>([
    ['scaled up', { spec: { replicas: 5 } }, { verdict: 'unchanged', machines: { before: 3, after: 3 } }],
    ['scaled down', { spec: { replicas: 1 } }, { verdict: 'scaled', machines: { before: 3, after: 1 } }],
    [
      'scaled down with other Machines',
      { spec: { replicas: 1, ...objectAt(failureDomain, 'spec') } },
      { verdict: 'scaled', machines: { before: 3, after: 1, replaced: 0 } },
    ],
    ['of which nothing reaches a Machine', { metadata: { labels: { a: 'b' } } }, { verdict: 'inPlace' }],
  ])('a group that is %s', async (_, after, expected) => {
    expect(await judge('v1.35.0', { after })).toMatchObject(expected);
  });

  test('a group that is new has no Machines', async () => {
    const plan = await judge('v1.35.0', { change: { before: undefined }, machineSets: [] });
    expect(plan).toMatchObject({
      verdict: 'created',
      machines: { before: 0, after: 0 },
      held: { is: 'blocked', verdict: 'created', machines: { after: 3 } },
    });
  });

  test('the upgrade of the group itself lets it go on', async () => {
    expect(await judge('v1.35.0', { after: versionOf('v1.35.0') })).toMatchObject({
      verdict: 'replaced',
      machines: { replaced: 3 },
    });
  });
});
