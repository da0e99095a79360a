import { describe, expect, test } from 'vitest';
import { pendingHooksAnnotation } from '../../../src/extensionconfig/index.ts';
import { fieldAt, type JsonObject, textAt } from '../../../src/kubernetes/index.ts';
import { type Answer, blocking, callLine, classYaml, clusterYaml, simulate, templatedClass } from './simulating.ts';

const passes = () => undefined;
const steps = (...versions: string[]) => versions.map((version) => ({ version }));
/** Lines of calls, without those of patches. */
const lines = (calls: Parameters<typeof callLine>[0][]) => calls.map(callLine);

describe('the calls of a simulation', () => {
  test('creation, and nothing else', async () => {
    const { calls, end } = await simulate(passes);
    expect(lines(calls)).toEqual(['BeforeClusterCreate', 'AfterControlPlaneInitialized']);
    expect(end).toMatchObject({ isComplete: true, reason: '' });
  });

  test("an upgrade of four minors by an extension's plan", async () => {
    // The example of Cluster API's documentation: workers may lag by at most three minor versions.
    const all = ['v1.30.0', 'v1.31.0', 'v1.32.3', 'v1.33.0'];
    const { calls, end } = await simulate(
      ({ hook, request }) =>
        hook === 'GenerateUpgradePlan'
          ? {
              controlPlaneUpgrades: steps(
                ...all.slice(all.indexOf(String(request.fromControlPlaneKubernetesVersion)) + 1),
              ),
            }
          : undefined,
      {
        yaml: clusterYaml('v1.29.0') + classYaml('{ upgrade: { external: { generateUpgradePlanExtension: plan.e } } }'),
        upgrades: ['v1.33.0'],
      },
    );
    expect(end.reason).toBe('');
    expect(lines(calls.filter(({ hook }) => hook !== 'GenerateUpgradePlan')).slice(2)).toEqual([
      'BeforeClusterUpgrade 1.29.0 → 1.33.0 C[1.30.0 1.31.0 1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'BeforeControlPlaneUpgrade 1.29.0 → 1.30.0 C[1.30.0 1.31.0 1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'AfterControlPlaneUpgrade 1.30.0 C[1.31.0 1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'BeforeControlPlaneUpgrade 1.30.0 → 1.31.0 C[1.31.0 1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'AfterControlPlaneUpgrade 1.31.0 C[1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'BeforeControlPlaneUpgrade 1.31.0 → 1.32.3 C[1.32.3 1.33.0] W[1.32.3 1.33.0]',
      'AfterControlPlaneUpgrade 1.32.3 C[1.33.0] W[1.32.3 1.33.0]',
      'BeforeWorkersUpgrade 1.29.0 → 1.32.3 C[1.33.0] W[1.32.3 1.33.0]',
      'AfterWorkersUpgrade 1.32.3 C[1.33.0] W[1.33.0]',
      'BeforeControlPlaneUpgrade 1.32.3 → 1.33.0 C[1.33.0] W[1.33.0]',
      'AfterControlPlaneUpgrade 1.33.0 W[1.33.0]',
      'BeforeWorkersUpgrade 1.32.3 → 1.33.0 W[1.33.0]',
      'AfterWorkersUpgrade 1.33.0',
      'AfterClusterUpgrade 1.33.0',
    ]);
    const asked = calls.filter(({ hook }) => hook === 'GenerateUpgradePlan');
    expect(
      asked.map(({ request }) => [request.fromControlPlaneKubernetesVersion, request.fromWorkersKubernetesVersion]),
    )
      // Once for each completed step, of the control plane or of the workers.
      .toEqual([
        ['v1.29.0', 'v1.29.0'],
        ['v1.30.0', 'v1.29.0'],
        ['v1.31.0', 'v1.29.0'],
        ['v1.32.3', 'v1.29.0'],
        ['v1.32.3', 'v1.32.3'],
        ['v1.33.0', 'v1.32.3'],
      ]);
  });

  test('without a class, an upgrade takes one minor per step', async () => {
    const { calls } = await simulate(passes, { yaml: clusterYaml('v1.30.2'), upgrades: ['v1.32.1'] });
    expect(lines(calls)[2]).toBe('BeforeClusterUpgrade 1.30.2 → 1.32.1 C[1.31.0 1.32.1] W[1.32.1]');
  });

  test('by the versions of a class: the last of each minor', async () => {
    const yaml =
      clusterYaml('v1.30.0') +
      classYaml('{ kubernetesVersions: [v1.30.0, v1.30.9, v1.31.0, v1.31.4, v1.32.0, v1.32.1] }');
    const { calls } = await simulate(passes, { yaml, upgrades: ['v1.32.0'] });
    expect(lines(calls)[2]).toBe('BeforeClusterUpgrade 1.30.0 → 1.32.0 C[1.31.4 1.32.0] W[1.32.0]');
  });

  test('without workers, no hooks of workers', async () => {
    const yaml = clusterYaml('v1.30.0', { topology: 'controlPlane: {}' });
    const { calls, end } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    expect(end.isComplete).toBe(true);
    expect(lines(calls).slice(2)).toEqual([
      'BeforeClusterUpgrade 1.30.0 → 1.31.0 C[1.31.0]',
      'BeforeControlPlaneUpgrade 1.30.0 → 1.31.0 C[1.31.0]',
      'AfterControlPlaneUpgrade 1.31.0',
      'AfterClusterUpgrade 1.31.0',
    ]);
  });

  test('two upgrades, then the deletion', async () => {
    const { calls, end } = await simulate(passes, { upgrades: ['v1.32.0', 'v1.33.0'], isDeleted: true });
    expect(end.isComplete).toBe(true);
    expect(calls.filter(({ hook }) => hook === 'AfterClusterUpgrade').map(callLine)).toEqual([
      'AfterClusterUpgrade 1.32.0',
      'AfterClusterUpgrade 1.33.0',
    ]);
    const last = calls.at(-1);
    expect(last?.hook).toBe('BeforeClusterDelete');
    expect(last?.request.cluster).toMatchObject({
      metadata: { deletionTimestamp: expect.stringMatching(/^2026-08-21T/) },
    });
  });

  test('pending hooks are recorded even if no handler serves them', async () => {
    const { calls, events, end } = await simulate(() => 'none', { upgrades: ['v1.32.0'], isDeleted: true });
    expect(calls).toEqual([]);
    expect(end.isComplete).toBe(true);
    const pending = events.flatMap(({ event }) => (event.kind === 'pending-hooks' ? [event.text] : []));
    expect(pending.map((text) => text.replace('pending hooks: ', ''))).toEqual([
      'AfterControlPlaneInitialized',
      'none',
      'AfterClusterUpgrade',
      'AfterClusterUpgrade,AfterControlPlaneUpgrade,AfterWorkersUpgrade,BeforeWorkersUpgrade',
      'AfterClusterUpgrade,AfterWorkersUpgrade,BeforeWorkersUpgrade',
      'AfterClusterUpgrade,AfterWorkersUpgrade',
      'AfterClusterUpgrade',
      'none',
    ]);
  });

  test('pending hooks that are none of Cluster API’s stay in the annotation', async () => {
    const annotations = `{ ${pendingHooksAnnotation}: "Mine,,AfterControlPlaneInitialized" }`;
    const { state } = await simulate(passes, { yaml: clusterYaml('v1.31.0', { annotations }) });
    expect(state.pendingHooks).toBe('Mine');
  });

  test('a Cluster that has its references counts as created', async () => {
    const reference = '{ apiGroup: g, kind: K, name: k }';
    const yaml = clusterYaml('v1.30.0').replace(
      'spec:',
      `spec:\n  controlPlaneRef: ${reference}\n  infrastructureRef: ${reference}`,
    );
    const { calls } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    expect(calls[0]?.hook).toBe('BeforeClusterUpgrade');
  });

  test('a paused Cluster gets no calls, not even when it is deleted', async () => {
    const yaml = clusterYaml('v1.30.0', { annotations: '{ cluster.x-k8s.io/paused: "" }' });
    const { calls, end, conditions } = await simulate(passes, { yaml, isDeleted: true });
    expect({ calls, isComplete: end.isComplete }).toEqual({ calls: [], isComplete: false });
    expect(conditions).toMatchObject([{ status: 'False', reason: 'Paused' }]);
  });
});

describe('what blocks', () => {
  test('each blocking hook is called again after its wait, and not earlier', async () => {
    const { calls, end } = await simulate(
      ({ hook }, nth) =>
        blocking.includes(hook) && nth === 1 ? { retryAfterSeconds: 5000, message: 'wait' } : undefined,
      { upgrades: ['v1.32.0'], yaml: clusterYaml('v1.31.0'), isDeleted: true },
    );
    expect(end.isComplete).toBe(true);
    for (const hook of blocking) {
      const [first, second] = calls.filter((call) => call.hook === hook);
      expect([hook, (second?.at ?? 0) - (first?.at ?? 0)]).toEqual([hook, 5_000_000]);
    }
  });

  test('a wait of hours takes no real time', async () => {
    const { end } = await simulate(({ hook }, nth) =>
      hook === 'BeforeClusterCreate' && nth < 10 ? { retryAfterSeconds: 36_000 } : undefined,
    );
    expect(end).toMatchObject({ isComplete: true });
    expect(end.at).toBeGreaterThan(9 * 36_000_000);
  });

  test('Cluster API forgets a wait after a day, however long it is', async () => {
    const { calls, end } = await simulate(
      ({ hook }, nth) =>
        nth === 1 && /^Before/.test(hook) ? { retryAfterSeconds: 2_147_483_647, message: 'for ages' } : undefined,
      { upgrades: ['v1.32.0'], isDeleted: true },
    );
    expect(end.reason).toBe('');
    expect(calls.slice(0, 2).map(({ at }) => at)).toEqual([0, 86_400_000]);
  });

  test('a hook that blocks forever reaches the limit of calls, which is reported', async () => {
    const { end, calls } = await simulate(
      ({ hook }) => (hook === 'BeforeClusterUpgrade' ? { retryAfterSeconds: 60, message: 'never' } : undefined),
      { upgrades: ['v1.32.0'], maxCalls: 20 },
    );
    expect(calls).toHaveLength(20);
    expect(end.isComplete).toBe(false);
    expect(end.reason).toMatch(
      /^20 calls were made, the limit, and BeforeClusterUpgrade would be called next \(Cluster is upgrading to v1\.32\.0; Following hooks are blocking upgrade: BeforeClusterUpgrade: never; /,
    );
  });

  test('an annotation blocks as BeforeClusterUpgrade does, without any call', async () => {
    const yaml = clusterYaml('v1.30.0', {
      annotations:
        '{ before-upgrade.hook.cluster.cluster.x-k8s.io/b: "", before-upgrade.hook.cluster.cluster.x-k8s.io/a: "" }',
    });
    const { calls, end } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    expect(calls.map(({ hook }) => hook)).not.toContain('BeforeClusterUpgrade');
    expect(end.reason).toContain(
      'BeforeClusterUpgrade: annotations before-upgrade.hook.cluster.cluster.x-k8s.io/a, before-upgrade.hook.cluster.cluster.x-k8s.io/b are set',
    );
  });

  test('workers that defer their upgrade prevent its completion', async () => {
    const yaml = clusterYaml('v1.30.0', {
      topology:
        'workers: { machineDeployments: [{ class: w, name: md-0, metadata: { annotations: { topology.cluster.x-k8s.io/defer-upgrade: "" } } }] }',
    });
    const { end, conditions } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    expect(end.isComplete).toBe(false);
    expect(conditions.at(-1)).toMatchObject({ reason: 'MachineDeploymentsUpgradeDeferred' });
  });

  test('a condition names three groups of workers, sorted, and the number of the others', async () => {
    const groups = ['e', 'd', 'c', 'b', 'a']
      .map(
        (name) =>
          `{ class: w, name: ${name}, metadata: { annotations: { topology.cluster.x-k8s.io/defer-upgrade: "" } } }`,
      )
      .join(', ');
    const yaml = clusterYaml('v1.30.0', { topology: `workers: { machineDeployments: [${groups}] }` });
    const { conditions } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    expect(conditions.at(-1)?.message).toMatch(
      /^Cluster is upgrading to v1\.31\.0\n {2}\* MachineDeployments c-a-\w{5}, c-b-\w{5}, c-c-\w{5}, \.\.\. \(2 more\) upgrade to version v1\.31\.0 deferred using defer-upgrade or hold-upgrade-sequence annotations$/,
    );
  });

  test('MachinePools upgrade beside MachineDeployments, not after them', async () => {
    const yaml = clusterYaml('v1.30.0', {
      topology: 'workers: { machineDeployments: [{ class: w, name: md-0 }], machinePools: [{ class: w, name: mp-0 }] }',
    });
    const { events } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
    const starts = events.filter(({ event }) => event.kind === 'worker' && event.text.includes(' upgrade to '));
    expect(starts).toHaveLength(2);
    expect(new Set(starts.map(({ at }) => at)).size).toBe(1);
  });

  test('groups of workers upgrade one after the other, or as many at a time as the annotation says', async () => {
    const startsOf = async (annotations: string) => {
      const yaml = clusterYaml('v1.30.0', { annotations });
      const { events } = await simulate(passes, { yaml, upgrades: ['v1.31.0'] });
      return events
        .filter(({ event }) => event.kind === 'worker' && event.text.includes(' upgrade to '))
        .map(({ at }) => at);
    };
    const [first = 0, second = 0] = await startsOf('{}');
    expect(second - first).toBe(120_000);
    expect(new Set(await startsOf('{ topology.cluster.x-k8s.io/upgrade-concurrency: "2" }')).size).toBe(1);
  });
});

describe('what fails', () => {
  test('an error ends the reconcile; everything is called again after a backoff, and nothing is cached', async () => {
    const { calls, conditions, end } = await simulate(({ hook }, nth) =>
      hook === 'BeforeClusterCreate' && nth <= 3 ? { error: 'no quota' } : undefined,
    );
    expect(end.isComplete).toBe(true);
    expect(calls.slice(0, 4).map(({ at }) => at)).toEqual([0, 1005, 2015, 3035]);
    expect(conditions[0]).toEqual({
      kind: 'condition',
      status: 'False',
      reason: 'ReconcileFailed',
      message: 'failed to call extension handlers for hook "BeforeClusterCreate": no quota',
    });
  });

  test('an error that never ends reaches the limit of failures', async () => {
    const { end } = await simulate(
      ({ hook }) => (hook === 'AfterControlPlaneInitialized' ? { error: 'no' } : undefined),
      {
        maxFailures: 4,
      },
    );
    expect(end).toMatchObject({
      isComplete: false,
      reason:
        '4 reconciles in a row failed: error reconciling the Cluster topology: failed to call extension handlers for hook "AfterControlPlaneInitialized": no',
    });
  });

  test('the error of an upgrade hook says where it failed', async () => {
    const { conditions } = await simulate(
      ({ hook }) => (hook === 'BeforeClusterUpgrade' ? { error: 'no' } : undefined),
      {
        upgrades: ['v1.32.0'],
      },
    );
    expect(conditions.at(-1)?.message).toBe(
      'error computing the desired state of the Cluster topology: failed to compute ControlPlane: failed to compute version of ControlPlane: failed to call extension handlers for hook "BeforeClusterUpgrade": no',
    );
  });

  test.each<[string, Answer, RegExp]>([
    [
      'that skips a minor version',
      { controlPlaneUpgrades: steps('v1.32.0') },
      /item 0; expecting a version with minor 30 or 31, found version v1\.32\.0/,
    ],
    [
      'without the target',
      { controlPlaneUpgrades: steps('v1.31.0') },
      /must end with version v1\.32\.0, ends with v1\.31\.0 instead/,
    ],
    ['without steps', {}, /must end with version v1\.32\.0, ends with v1\.30\.0 instead/],
    [
      'with an invalid version',
      { controlPlaneUpgrades: [{ version: 'new' }] },
      /item 0; failed to parse version new: it is not a version such as v1\.33\.0/,
    ],
  ])('a plan %s is rejected', async (_, answer, reason) => {
    const { end } = await simulate(({ hook }) => (hook === 'GenerateUpgradePlan' ? answer : undefined), {
      yaml: clusterYaml('v1.30.0') + classYaml('{ upgrade: { external: { generateUpgradePlanExtension: plan.e } } }'),
      upgrades: ['v1.32.0'],
      maxFailures: 2,
    });
    expect(end.isComplete).toBe(false);
    expect(end.reason).toMatch(reason);
  });

  test.each([
    [
      'a lower version',
      'v1.29.0',
      clusterYaml('v1.30.0'),
      /: version cannot be decreased from "1\.30\.0" to "1\.29\.0"$/,
    ],
    [
      'another major version',
      'v2.0.0',
      clusterYaml('v1.30.0'),
      /: version cannot be increased from "1\.30\.0" to "2\.0\.0"/,
    ],
    [
      'two minor versions with a class',
      'v1.32.0',
      clusterYaml('v1.30.0') + classYaml('{}'),
      /: version cannot be increased from .*upgrade one minor version at a time/,
    ],
    [
      'a version that the class does not have',
      'v1.31.7',
      clusterYaml('v1.30.0') + classYaml('{ kubernetesVersions: [v1.30.0, v1.31.0] }'),
      /: version must match one of the versions defined in the ClusterClass$/,
    ],
    [
      'a version that the class does not have, even if an extension plans upgrades',
      'v1.31.7',
      clusterYaml('v1.30.0') +
        classYaml(
          '{ kubernetesVersions: [v1.30.0, v1.31.0], upgrade: { external: { generateUpgradePlanExtension: plan.e } } }',
        ),
      /: version must match one of the versions defined in the ClusterClass$/,
    ],
  ])('admission rejects %s', async (_, to, yaml, reason) => {
    const { end } = await simulate(passes, { yaml, upgrades: [to] });
    expect(end.isComplete).toBe(false);
    expect(end.reason).toMatch(reason);
  });
});

test('admission accepts an older pre-release, and the plan refuses it', async () => {
  const { end } = await simulate(passes, { yaml: clusterYaml('v1.31.0'), upgrades: ['v1.31.0-rc.1'], maxFailures: 1 });
  expect(end.reason).toBe(
    'a reconcile failed: error computing the desired state of the Cluster topology: invalid ControlPlane upgrade plan: item 0; version v1.31.0-rc.1 must be greater than v1.31.0',
  );
});

describe('releases of Cluster API', () => {
  const clustersOf = async (minor: number) => {
    const release = { major: 1, minor };
    const { calls } = await simulate(passes, { upgrades: ['v1.32.0'], isDeleted: true, release });
    return calls.map(({ hook, request }) => [hook, request.cluster as JsonObject] as const);
  };
  const stepOf = (cluster: JsonObject) =>
    fieldAt(cluster, 'metadata', 'annotations', 'topology.internal.cluster.x-k8s.io/upgrade-step');

  test.each([
    [12, 'cluster.x-k8s.io/v1beta1', ''],
    [13, 'cluster.x-k8s.io/v1beta2', ''],
    [14, 'cluster.x-k8s.io/v1beta2', undefined],
  ])('v1.%i sends Clusters in %s, with the upgrade step %j after an upgrade', async (minor, apiVersion, step) => {
    const clusters = await clustersOf(minor);
    expect(new Set(clusters.map(([, cluster]) => cluster.apiVersion))).toEqual(new Set([apiVersion]));
    expect(stepOf(clusters.at(-1)![1])).toBe(step);
    expect(stepOf(clusters.find(([hook]) => hook === 'AfterWorkersUpgrade')![1])).toBe('v1.32.0');
  });
});

describe('the condition TopologyReconciled', () => {
  test('over a whole simulation', async () => {
    const { conditions } = await simulate(
      ({ hook }, nth) =>
        nth === 1 && /^(BeforeClusterCreate|BeforeClusterUpgrade|AfterClusterUpgrade|BeforeClusterDelete)$/.test(hook)
          ? { retryAfterSeconds: 5, message: hook === 'AfterClusterUpgrade' ? '' : 'wait' }
          : undefined,
      {
        yaml: clusterYaml('v1.31.0', { topology: 'workers: { machineDeployments: [{ class: w, name: md-0 }] }' }),
        upgrades: ['v1.33.0'],
        isDeleted: true,
      },
    );
    const seen = conditions.map(
      ({ status, reason, message }) => `${status} ${reason}: ${message.replaceAll(/-[a-z0-9]{5}\b/g, '-xxxxx')}`,
    );
    expect(seen).toEqual([
      'False ClusterCreating: Following hooks are blocking Cluster topology creation: BeforeClusterCreate: wait',
      'True ReconcileSucceeded: ',
      'False ClusterUpgrading: Cluster is upgrading to v1.33.0\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: wait\n  * KubeadmControlPlane pending upgrade to version v1.32.0, v1.33.0\n  * MachineDeployment c-md-0-xxxxx pending upgrade to version v1.33.0',
      'False ClusterUpgrading: Cluster is upgrading to v1.33.0\n  * KubeadmControlPlane upgrading to version v1.32.0 (v1.33.0 pending)\n  * MachineDeployment c-md-0-xxxxx pending upgrade to version v1.33.0',
      'False ClusterUpgrading: Cluster is upgrading to v1.33.0\n  * KubeadmControlPlane upgrading to version v1.33.0\n  * MachineDeployment c-md-0-xxxxx pending upgrade to version v1.33.0',
      'False ClusterUpgrading: Cluster is upgrading to v1.33.0\n  * MachineDeployment c-md-0-xxxxx upgrading to version v1.33.0',
      'False ClusterUpgrading: Cluster is upgrading to v1.33.0\n  * Following hooks are blocking upgrade: AfterClusterUpgrade',
      'True ReconcileSucceeded: ',
      'False Deleting: Cluster is deleting. Following hooks are blocking delete: BeforeClusterDelete: wait',
      'False Deleting: Cluster is deleting',
    ]);
  });
});

describe('in-place updates', () => {
  const patch = (path: string, value: string) => ({
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify([{ op: 'replace', path, value }])).toString('base64'),
  });
  const kubeadmClass = templatedClass('KubeadmControlPlaneTemplate');
  const cluster = clusterYaml('v1.31.0', {
    topology:
      'controlPlane: { replicas: 2 }\n    workers: { machineDeployments: [{ class: w, name: md-0, replicas: 2 }] }',
  });
  const scenario = {
    yaml: cluster + kubeadmClass,
    upgrades: ['v1.32.0'],
    updatesInPlace: true,
  };
  const inPlace = (calls: Parameters<typeof callLine>[0][]) =>
    calls.map(({ hook }) => hook).filter((hook) => /Machine/.test(hook));

  test('a machine whose differences are covered is updated until the extension says that it is done', async () => {
    const { calls, end } = await simulate(({ hook }, nth) => {
      if (hook === 'CanUpdateMachine') {
        return { machinePatch: patch('/spec/version', 'v1.32.0') };
      }
      if (hook === 'CanUpdateMachineSet') {
        return { machineSetPatch: patch('/spec/template/spec/version', 'v1.32.0') };
      }
      return hook === 'UpdateMachine' && nth < 3 ? { retryAfterSeconds: 10 } : undefined;
    }, scenario);
    expect(end.isComplete).toBe(true);
    expect(inPlace(calls)).toEqual([
      'CanUpdateMachine',
      'UpdateMachine',
      'UpdateMachine',
      'UpdateMachine',
      'CanUpdateMachineSet',
      // Of two Machines one is updated: a new one comes first, since all must stay available.
      'UpdateMachine',
    ]);
  });

  test('a machine whose differences are not covered is replaced', async () => {
    const { calls, end } = await simulate(passes, scenario);
    expect(end.isComplete).toBe(true);
    expect(inPlace(calls)).toEqual(['CanUpdateMachine', 'CanUpdateMachineSet']);
  });

  const covered = ({ hook, request }: { hook: string; request: JsonObject }) => {
    const merge = (spec: JsonObject) => ({
      patchType: 'JSONMergePatch',
      patch: Buffer.from(JSON.stringify({ spec })).toString('base64'),
    });
    const specOf = (part: string) => (fieldAt(request, 'desired', part, 'spec') ?? {}) as JsonObject;
    return hook === 'CanUpdateMachineSet'
      ? {
          machineSetPatch: merge({
            template: { spec: { version: fieldAt(specOf('machineSet'), 'template', 'spec', 'version') ?? '' } },
          }),
        }
      : hook === 'CanUpdateMachine'
        ? { machinePatch: merge({ version: specOf('machine').version ?? '' }) }
        : undefined;
  };

  test.each([
    ['by default', '', 3, 1],
    ['if one may be unavailable', 'maxSurge: 0, maxUnavailable: 1', 4, 0],
    ['if some percent may be unavailable', 'maxSurge: 25%, maxUnavailable: 25%', 4, 0],
    ['if too few percent may be unavailable', 'maxSurge: 25%, maxUnavailable: 10%', 3, 1],
    ['if neither is allowed, as if one may be unavailable', 'maxSurge: 0%, maxUnavailable: 0%', 4, 0],
  ])('of four Machines, %s (%s), %i are updated and %i created', async (_, rollingUpdate, updated, created) => {
    const rollout =
      rollingUpdate === ''
        ? ''
        : `rollout: { strategy: { type: RollingUpdate, rollingUpdate: { ${rollingUpdate} } } }, `;
    const yaml = clusterYaml('v1.31.0', {
      topology: `workers: { machineDeployments: [{ class: w, name: md-0, ${rollout}replicas: 4 }] }`,
    });
    const { calls, events, end } = await simulate(covered, { ...scenario, yaml: yaml + kubeadmClass });
    expect(end).toMatchObject({ isComplete: true, reason: '' });
    const machines = events.flatMap(({ event }) => (event.kind === 'machine' ? [event.text.split(' ').at(-1)] : []));
    const updates = calls.filter(
      ({ hook, request }) => hook === 'UpdateMachine' && !JSON.stringify(request).includes('control-plane'),
    );
    expect([updates.length, machines.filter((state) => state === 'created').length]).toEqual([updated, created]);
  });

  test.each([
    ['of one machine, which a new one replaces', 1, '', 0],
    ['by default, where the last one goes when a new one is there', 3, '', 2],
    ['without a surge', 3, 'rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } }, ', 3],
    ['without a surge, in v1beta1', 3, 'rolloutStrategy: { rollingUpdate: { maxSurge: 0 } }, ', 3, 'v1beta1'],
  ])('a control plane %s (%i machines; %s) asks about %i', async (_, replicas, rollout, asked, version = 'v1beta2') => {
    const yaml = clusterYaml('v1.31.0', { topology: `controlPlane: { replicas: ${replicas} }` });
    const { calls, events, end } = await simulate(covered, {
      ...scenario,
      yaml:
        yaml +
        templatedClass('KubeadmControlPlaneTemplate')
          .replace('{ kubeadmConfigSpec', `{ ${rollout}kubeadmConfigSpec`)
          .replaceAll('controlplane.cluster.x-k8s.io/v1beta2', `controlplane.cluster.x-k8s.io/${version}`),
    });
    expect(end).toMatchObject({ isComplete: true, reason: '' });
    const both = Array.from({ length: asked }, () => ['CanUpdateMachine', 'UpdateMachine']).flat();
    expect(inPlace(calls)).toEqual(both);
    expect(events.flatMap(({ event }) => (event.kind === 'finding' ? [event.text] : []))).toEqual(
      asked > 0
        ? []
        : ['the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called'],
    );
  });

  test('settings of Machines are those of the topology, else of the class', async () => {
    const yaml = clusterYaml('v1.31.0', {
      topology: `workers: { machineDeployments: [{ class: w, name: md-0, replicas: 4, rollout: { strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0 } } }, deletion: { nodeDrainTimeoutSeconds: 5, order: Oldest } }] }`,
    });
    const classes = templatedClass('KubeadmControlPlaneTemplate', [
      'rollout: { strategy: { rollingUpdate: { maxSurge: 0 } } }',
      'deletion: { nodeDrainTimeoutSeconds: 6, nodeDeletionTimeoutSeconds: 7 }',
    ]);
    const { calls } = await simulate(covered, { ...scenario, yaml: yaml + classes });
    const { machineSet } = calls.find(({ hook }) => hook === 'CanUpdateMachineSet')!.request.current as JsonObject;
    expect(fieldAt(machineSet, 'spec', 'deletion')).toEqual({ order: 'Oldest' });
    expect(fieldAt(machineSet, 'spec', 'template', 'spec', 'deletion')).toEqual({
      nodeDrainTimeoutSeconds: 5,
      nodeDeletionTimeoutSeconds: 7,
    });
    // The rollout of the topology is the whole one: a surge of one, by default.
    expect(fieldAt(machineSet, 'metadata', 'annotations', 'machinedeployment.clusters.x-k8s.io/max-replicas')).toBe(
      '5',
    );
    const updated = calls.filter(
      ({ hook, request }) => hook === 'UpdateMachine' && !JSON.stringify(request).includes('control-plane'),
    );
    expect(updated).toHaveLength(3);
    expect(fieldAt(updated[0]?.request, 'desired', 'machine', 'spec', 'deletion')).toEqual({
      nodeDrainTimeoutSeconds: 5,
      nodeDeletionTimeoutSeconds: 7,
    });
  });

  test('workers with the strategy OnDelete are not updated in place, and wait for somebody', async () => {
    const yaml = clusterYaml('v1.31.0', {
      topology:
        'workers: { machineDeployments: [{ class: w, name: md-0, replicas: 2, rollout: { strategy: { type: OnDelete } } }] }',
    });
    const { calls, events, end } = await simulate(covered, {
      ...scenario,
      yaml: yaml + templatedClass('OtherControlPlaneTemplate'),
    });
    expect(end).toMatchObject({ isComplete: true, reason: '' });
    expect(inPlace(calls)).toEqual([]);
    const made = ['created', 'gone', 'created', 'gone'];
    expect(events.flatMap(({ event }) => (event.kind === 'machine' ? [event.text.split(' ').at(-1)] : []))).toEqual(
      made,
    );
    expect(events.flatMap(({ event }) => (event.kind === 'finding' ? [event.text] : []))).toContain(
      'workers md-0 have the strategy OnDelete: an upgrade waits until somebody deletes their Machines, which this rehearsal takes for granted',
    );
  });

  test('a patch without type and content is none, and one without a known type ends the simulation', async () => {
    const endWith = async (machineSetPatch: JsonObject) => {
      const answers: Parameters<typeof simulate>[0] = (call) =>
        call.hook === 'CanUpdateMachineSet' ? { machineSetPatch } : covered(call);
      return (await simulate(answers, scenario)).end;
    };
    expect(await endWith({})).toMatchObject({ isComplete: true, reason: '' });
    expect(await endWith({ patchType: 'JSONMergePatch', patch: '' })).toMatchObject({ isComplete: true, reason: '' });
    const because = 'a patch of an in-place update cannot be applied: failed to apply patch: ';
    expect((await endWith({ patch: 'e30=' })).reason).toBe(`${because}patchType is not set`);
    expect((await endWith({ patchType: 'Strategic', patch: 'e30=' })).reason).toBe(
      `${because}unknown patchType Strategic`,
    );
    expect((await endWith({ patchType: 'JSONMergePatch', patch: 'eyJraW5kIjpudWxsfQ==' })).reason).toContain(
      "cannot be applied: failed to apply patch to object: failed to convert patched object to Unstructured: failed to unmarshal object from json: Object 'Kind' is missing",
    );
  });

  test('without the class no Machine is updated in place, which a warning says', async () => {
    const { calls, events, end } = await simulate(covered, { ...scenario, yaml: cluster });
    expect([end.isComplete, inPlace(calls)]).toEqual([true, []]);
    expect(events.flatMap(({ event }) => (event.kind === 'finding' ? [event.text] : []))).toEqual([
      'no Machine is updated in place, since the templates of Machines are not known',
    ]);
  });

  test('machines of a KubeadmControlPlane have the specs of the class', async () => {
    const { calls } = await simulate(covered, {
      ...scenario,
      yaml: cluster + kubeadmClass,
    });
    const { request } = calls.find(({ hook }) => hook === 'CanUpdateMachine')!;
    expect(request.desired).toMatchObject({
      machine: { spec: { version: 'v1.32.0', infrastructureRef: { kind: 'M' } } },
      infrastructureMachine: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2', kind: 'M', spec: { size: 3 } },
      bootstrapConfig: { kind: 'KubeadmConfig', spec: { files: [{ path: '/a' }] } },
    });
  });

  test('configurations of a control plane have the feature gates that Cluster API sets for their version', async () => {
    const { calls } = await simulate(covered, {
      ...scenario,
      yaml: cluster + kubeadmClass,
    });
    const { desired } = calls.find(({ hook }) => hook === 'CanUpdateMachine')!.request;
    expect(fieldAt(desired, 'bootstrapConfig', 'spec', 'clusterConfiguration', 'featureGates')).toEqual({
      ControlPlaneKubeletLocalMode: true,
    });
  });

  test('an update of a control plane is requested with what marks its Machine, and where to find it', async () => {
    const { calls } = await simulate(covered, {
      ...scenario,
      yaml:
        cluster.replace(
          'replicas: 2 }',
          'replicas: 2, metadata: { labels: { a: b } }, deletion: { nodeDrainTimeoutSeconds: 3 } }',
        ) + kubeadmClass,
    });
    const requestOf = (name: string) => calls.find(({ hook }) => hook === name)!.request.desired as JsonObject;
    const name = textAt(requestOf('UpdateMachine'), 'machine', 'metadata', 'name');
    const inProgress = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';
    const labels = {
      a: 'b',
      'cluster.x-k8s.io/cluster-name': 'c',
      'topology.cluster.x-k8s.io/owned': '',
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': name.replace(/-\w+$/, ''),
    };
    expect(requestOf('UpdateMachine')).toMatchObject({
      machine: {
        metadata: { labels, annotations: { [inProgress]: '', [pendingHooksAnnotation]: 'UpdateMachine' } },
        spec: {
          providerID: `made-up://${name}`,
          deletion: { nodeDeletionTimeoutSeconds: 10, nodeDrainTimeoutSeconds: 3 },
        },
      },
      infrastructureMachine: {
        metadata: {
          labels,
          annotations: {
            'cluster.x-k8s.io/cloned-from-name': expect.stringMatching(/^c-\w{5}$/),
            'cluster.x-k8s.io/cloned-from-groupkind': 'MTemplate.infrastructure.cluster.x-k8s.io',
            [inProgress]: '',
          },
        },
        spec: { providerID: `made-up://${name}` },
      },
      bootstrapConfig: { metadata: { name, namespace: 'team', labels, annotations: { [inProgress]: '' } } },
    });
    expect(JSON.stringify(requestOf('CanUpdateMachine'))).not.toContain(inProgress);
  });

  test('an update that blocks forever reaches the limit of calls, which is reported', async () => {
    const { end } = await simulate(
      (effect) => (effect.hook === 'UpdateMachine' ? { retryAfterSeconds: 5 } : covered(effect)),
      { ...scenario, maxCalls: 20 },
    );
    expect(end.reason).toMatch(/^20 calls were made, .* UpdateMachine would be called next/);
  });

  test('machines of another control plane are not asked about', async () => {
    const { calls, end } = await simulate(covered, {
      ...scenario,
      yaml: cluster + templatedClass('OwnControlPlaneTemplate'),
    });
    expect(end.isComplete).toBe(true);
    expect(inPlace(calls)).not.toContain('CanUpdateMachine');
  });

  test('without the feature gate, no hook is called', async () => {
    const { calls } = await simulate(passes, { ...scenario, updatesInPlace: false });
    expect(inPlace(calls)).toEqual([]);
  });

  test('an update that fails forever reaches the limit of failures', async () => {
    const { end } = await simulate(
      ({ hook }) => {
        if (hook === 'CanUpdateMachine') {
          return { machinePatch: patch('/spec/version', 'v1.32.0') };
        }
        return hook === 'UpdateMachine' ? { error: 'disk full' } : undefined;
      },
      { ...scenario, maxFailures: 3 },
    );
    expect(end.reason).toMatch(/is not updated, UpdateMachine failed 3 times in a row: .*disk full/);
  });
});
