import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { bootstrap, type Case, deployment, fieldsOf, infrastructure, machineSet, planOf, updater } from './groups.ts';

const current = () => machineSet('md-a', ['a-1', 'a-2', 'a-3']);
const judge = (given: Case) => planOf({ of: deployment, machineSets: [current()], ...given });
const spec = (fields: JsonObject): JsonObject => ({ spec: { template: { spec: fields } } });
const strategy = (fields: JsonObject): JsonObject => ({ spec: { rollout: { strategy: fields } } });
const onDelete = strategy({ type: 'OnDelete' });
const newer = spec({ version: 'v1.34.1' });

describe('a field of a MachineDeployment', () => {
  test.each<[string, JsonObject, string]>([
    ['version', newer, 'spec.template.spec.version'],
    ['failure domain', spec({ failureDomain: 'fd1' }), 'spec.template.spec.failureDomain'],
    [
      'a reference to bootstrap data',
      spec({ bootstrap: { dataSecretName: 'secret' } }),
      'spec.template.spec.bootstrap.dataSecretName',
    ],
  ])('%s: replaces', async (_, after, field) => {
    const plan = await judge({ after });
    expect(plan).toMatchObject({
      verdict: 'replaced',
      machines: { before: 3, after: 3, replaced: 3, inPlace: 0 },
      replaces: ['a-1', 'a-2', 'a-3'],
    });
    expect(fieldsOf(plan)).toEqual([field]);
  });

  test.each<[string, JsonObject, number, string | undefined]>([
    [
      'labels',
      { spec: { template: { metadata: { labels: { c: 'd' } } } } },
      3,
      'MachineSets, Machines, KubeadmConfigs and DevMachines',
    ],
    ['minReadySeconds', spec({ minReadySeconds: 1 }), 3, 'MachineSets and Machines'],
    ['readiness gates', spec({ readinessGates: [{ conditionType: 'A' }] }), 3, 'MachineSets and Machines'],
    ['taints', spec({ taints: [{ key: 'a', effect: 'NoSchedule' }] }), 3, 'MachineSets and Machines'],
    ['timeouts', spec({ deletion: { nodeDrainTimeoutSeconds: 1 } }), 3, 'MachineSets and Machines'],
    ['strategy', strategy({ rollingUpdate: { maxSurge: 2 } }), 0, undefined],
    ['OnDelete, while all are up to date', onDelete, 0, undefined],
    ['order of deletion', { spec: { deletion: { order: 'Oldest' } } }, 0, undefined],
    ['its own label', { metadata: { labels: { c: 'd' } } }, 0, undefined],
  ])('%s: is written in place', async (_, after, inPlace, on) => {
    const plan = await judge({ after });
    expect(plan).toMatchObject({ verdict: 'inPlace', machines: { replaced: 0, inPlace } });
    expect(plan.causes).toHaveLength(1);
    expect(plan.manner?.[0]).toBe(on === undefined ? undefined : `${fieldsOf(plan)[0]}: written to ${on}`);
  });

  test('the revision is no change', async () => {
    const after = { metadata: { annotations: { 'machinedeployment.clusters.x-k8s.io/revision': '2' } } };
    expect(await judge({ after })).toMatchObject({ verdict: 'unchanged' });
  });
});

describe('another template', () => {
  const named = { bootstrap: { configRef: { name: 'b-2' } }, infrastructureRef: { name: 'i-2' } };

  test('its content is the cause', async () => {
    const templates = {
      bootstrap: bootstrap('b-2', { preKubeadmCommands: ['a', 'b'] }),
      infrastructure: infrastructure('i-2', { size: 'large' }),
    };
    const plan = await judge({ after: spec(named), templates });
    expect(plan.causes).toEqual([
      {
        object: 'KubeadmConfigTemplate default/b-2',
        field: 'spec.template.spec.preKubeadmCommands',
        before: ['a'],
        after: ['a', 'b'],
      },
      { object: 'DevMachineTemplate default/i-2', field: 'spec.template.spec.size', before: 'small', after: 'large' },
    ]);
  });

  test('if the content is the same, the reference is', async () => {
    const templates = { bootstrap: bootstrap('b-2'), infrastructure: infrastructure('i-2') };
    expect(await judge({ after: spec(named), templates })).toMatchObject({
      verdict: 'replaced',
      machines: { replaced: 3 },
      causes: [
        { object: 'MachineDeployment default/md', field: 'spec.template.spec.bootstrap.configRef.name', after: 'b-2' },
        { object: 'MachineDeployment default/md', field: 'spec.template.spec.infrastructureRef.name', after: 'i-2' },
      ],
    });
  });

  test('changed under its name, it does nothing to Machines', async () => {
    const plan = await judge({ templates: { bootstrap: bootstrap('b-1', {}) } });
    expect(plan).toMatchObject({ verdict: 'unchanged', causes: [] });
    expect(plan.manner?.[0]).toMatch(/^KubeadmConfigTemplate default\/b-1 changes under its name/);
  });
});

describe('which Machines', () => {
  const old = () => machineSet('md-old', ['old-1'], { spec: { template: { spec: { version: 'v1.33.0' } } } });
  const two = () => machineSet('md-a', ['a-1', 'a-2']);

  test('a rollout that is under way is none of this change', async () => {
    const after = { spec: { template: { metadata: { labels: { c: 'd' } } } } };
    const plan = await judge({ after, machineSets: [two(), old()] });
    expect(plan).toMatchObject({ verdict: 'inPlace', machines: { before: 3, replaced: 0 } });
    expect(plan.problems).toEqual([
      {
        text: '1 Machine (old-1) is not up to date already, without this change',
        causes: [expect.objectContaining({ field: 'spec.template.spec.version', before: 'v1.33.0', after: 'v1.34.0' })],
      },
    ]);
  });

  test('a template that is rotated already is compared by its content', async () => {
    const configRef = { kind: 'KubeadmConfigTemplate', apiGroup: 'bootstrap.cluster.x-k8s.io', name: 'old' };
    const { machineSet: object, machines } = machineSet('md-old', ['old-1'], {
      spec: { template: { spec: { bootstrap: { configRef } } } },
    });
    const bootstrap = {
      kind: 'KubeadmConfigTemplate',
      metadata: { name: 'old', namespace: 'default' },
      spec: {
        template: { spec: { ...objectAt(deployment.bootstrap, 'spec', 'template', 'spec'), ntp: { enabled: true } } },
      },
    };
    const { problems } = await judge({ change: { machineSets: [{ ...deployment, object, bootstrap }], machines } });
    expect(problems?.flatMap(({ causes = [] }) => causes)).toEqual([
      {
        object: expect.stringContaining('KubeadmConfigTemplate'),
        field: 'spec.template.spec.ntp',
        before: { enabled: true },
      },
    ]);
  });

  test('a change that comes on top replaces them with the others', async () => {
    const plan = await judge({ after: newer, machineSets: [two(), old()] });
    expect(plan).toMatchObject({ verdict: 'replaced', replaces: ['a-1', 'a-2', 'old-1'] });
    expect(plan.problems).toBeUndefined();
  });

  test('a way back finds the old MachineSet again', async () => {
    const plan = await judge({ after: spec({ version: 'v1.33.0' }), machineSets: [two(), old()] });
    expect(plan).toMatchObject({ verdict: 'replaced', replaces: ['a-1', 'a-2'] });
  });

  test('of two MachineSets that match, the larger one stays', async () => {
    const plan = await judge({
      after: newer,
      machineSets: [machineSet('x', ['x-1'], newer), machineSet('y', ['y-1', 'y-2'], newer)],
    });
    expect(plan).toMatchObject({ verdict: 'replaced', replaces: ['x-1'] });
  });

  test('Machines of which nothing else is known', async () => {
    const { machines } = current();
    const given = { after: newer, machineSets: [], change: { machines } };
    expect(await judge(given)).toMatchObject({ replaces: ['a-1', 'a-2', 'a-3'] });
    expect(await judge({ after: newer, machineSets: [], change: { machines: undefined } })).toMatchObject({
      verdict: 'replaced',
      machines: { before: 3, replaced: 3 },
    });
    const plan = await judge({ after: newer, machineSets: [current()], change: { machines: undefined } });
    expect(plan).toMatchObject({ machines: { replaced: 3 } });
    expect(plan.replaces).toBeUndefined();
  });

  test('MachineSets without Machines do not count', async () => {
    const empty = machineSet('empty', [], { spec: { template: { spec: { version: 'v1.20.0' } } } });
    expect(await judge({ machineSets: [current(), empty] })).toMatchObject({ verdict: 'unchanged' });
  });
});

describe('OnDelete', () => {
  test('Machines wait until somebody deletes them', async () => {
    const plan = await judge({ before: onDelete, after: newer });
    expect(plan).toMatchObject({ verdict: 'onDelete', machines: { replaced: 0 }, replaces: ['a-1', 'a-2', 'a-3'] });
    expect(plan.manner).toEqual([
      '3 Machines stay until they are deleted; the next one is made as the change wants it (OnDelete)',
    ]);
  });

  const waiting = machineSet('md-a', ['a-1', 'a-2', 'a-3'], spec({ version: 'v1.33.0' }));

  test('those that wait already are none of another change', async () => {
    const plan = await judge({ before: onDelete, machineSets: [waiting] });
    expect(plan).toMatchObject({
      verdict: 'unchanged',
      problems: [{ remedy: 'they stay until you delete them (OnDelete)' }],
    });
  });

  test('a rollout that waits because it is paused says so', async () => {
    const paused = { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } };
    const plan = await judge({ before: paused, machineSets: [waiting] });
    expect(plan).toMatchObject({
      verdict: 'unchanged',
      manner: [expect.stringMatching(/^nothing happens as long as MachineDeployment \S+ is paused$/)],
    });
  });

  test('no Machine is made as long as it is paused, where some are missing', async () => {
    const paused = { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } }, spec: { replicas: 5 } };
    const plan = await judge({ before: paused, machineSets: [waiting] });
    expect(plan).toMatchObject({ verdict: 'unchanged', machines: { before: 3, after: 3 } });
  });

  test('with the annotation nothing happens, with spec.paused it is scaled', async () => {
    const wanted = { spec: { replicas: 5, template: { spec: { version: 'v1.34.1' } } } };
    const then = { verdict: 'replaced', machines: { before: 3, after: 5, replaced: 3 } };
    const annotated = { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } };
    expect(await judge({ before: annotated, after: wanted })).toMatchObject({
      verdict: 'unchanged',
      machines: { before: 3, after: 3, replaced: 0 },
      held: { is: 'paused', ...then },
    });
    expect(await judge({ before: { spec: { paused: true } }, after: wanted })).toMatchObject({
      verdict: 'scaled',
      machines: { before: 3, after: 5, replaced: 0 },
      held: { is: 'paused', ...then },
      manner: expect.arrayContaining(['no Machine is replaced as long as MachineDeployment default/md is paused']),
    });
    const resumed = { spec: { paused: false, template: { spec: { version: 'v1.34.1' } } } };
    const plan = await judge({ before: { spec: { paused: true } }, after: resumed });
    expect(plan).toMatchObject({ verdict: 'replaced' });
    expect(plan).not.toHaveProperty('held');
  });

  test('another strategy replaces them', async () => {
    const plan = await judge({ before: onDelete, after: strategy({ type: 'RollingUpdate' }), machineSets: [waiting] });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 3 } });
    expect(fieldsOf(plan)).toEqual(['spec.rollout.strategy.type']);
  });

  test('scaling down removes them', async () => {
    const after = { spec: { replicas: 0, template: { spec: { version: 'v1.34.1' } } } };
    expect(await judge({ before: onDelete, after })).toMatchObject({
      verdict: 'scaled',
      machines: { before: 3, after: 0 },
    });
  });
});

describe('rollout.after', () => {
  const since = (after: string) => ({ spec: { rollout: { after } } });

  test.each([
    ['after the MachineSet was made', '2026-02-01T00:00:00Z', 'replaced'],
    ['before it was made', '2025-12-01T00:00:00Z', 'inPlace'],
    ['in the future', '2026-07-01T00:00:00Z', 'replaced'],
  ])('%s', async (_, time, verdict) => {
    const plan = await judge({ after: since(time) });
    expect(plan).toMatchObject({ verdict });
    expect(fieldsOf(plan)).toEqual(['spec.rollout.after']);
    expect(plan.manner?.includes(`not before ${time}`) ?? false).toBe(time > '2026-06');
  });

  test('that is known does nothing more', async () => {
    expect(await judge({ before: since('2026-02-01T00:00:00Z') })).toMatchObject({
      machines: { replaced: 0 },
      problems: [{}],
    });
    expect(
      await judge({ before: since('2026-02-01T00:00:00Z'), machineSets: [], change: { machines: undefined } }),
    ).toMatchObject({ verdict: 'unchanged' });
  });
});

describe('scaling', () => {
  test.each([
    ['up', { spec: { replicas: 5 } }, { verdict: 'scaled', machines: { before: 3, after: 5, replaced: 0 } }],
    ['down', { spec: { replicas: 1 } }, { verdict: 'scaled', machines: { before: 3, after: 1, replaced: 0 } }],
    [
      'up, and a change',
      { spec: { replicas: 5, template: { spec: { version: 'v1.34.1' } } } },
      { verdict: 'replaced', machines: { before: 3, after: 5, replaced: 3 } },
    ],
    [
      'down, and a change',
      { spec: { replicas: 1, template: { spec: { version: 'v1.34.1' } } } },
      { verdict: 'replaced', machines: { before: 3, after: 1, replaced: 1 } },
    ],
  ])('%s', async (_, after, expected) => {
    expect(await judge({ after })).toMatchObject(expected);
    expect(await judge({ after, machineSets: [], change: { machines: undefined } })).toMatchObject(expected);
  });
});

test.each([
  [{ maxSurge: 1, maxUnavailable: 0 }, 'up to 1 at a time: new Machines come first (maxSurge 1, maxUnavailable 0)'],
  [{ maxSurge: '50%', maxUnavailable: 0 }, 'up to 2 at a time: new Machines come first (maxSurge 2, maxUnavailable 0)'],
  [
    { maxSurge: 0, maxUnavailable: '70%' },
    'up to 2 at a time: the old Machines go first (maxSurge 0, maxUnavailable 2)',
  ],
  [
    { maxSurge: 0, maxUnavailable: '10%' },
    'up to 1 at a time: the old Machines go first (maxSurge 0, maxUnavailable 1)',
  ],
])('a rolling update with %j', async (rollingUpdate, manner) => {
  expect((await judge({ before: strategy({ rollingUpdate }), after: newer })).manner).toEqual([manner]);
});

describe('updates in place', () => {
  test('all is covered: one Machine is replaced all the same', async () => {
    const { calls, options } = updater('all');
    const plan = await judge({ after: newer, options });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 1, inPlace: 2 }, replaces: ['a-3'] });
    expect(plan.manner).toEqual([
      '2 Machines updated in place by updater',
      '1 Machine replaced nevertheless: a new one comes first, so that none is missing; maxUnavailable: 1 avoids this',
    ]);
    expect(calls).toHaveLength(1);
  });

  test.each<[string, Case, object]>([
    [
      'if one may be missing, none is',
      { before: strategy({ rollingUpdate: { maxUnavailable: 1 } }) },
      { verdict: 'inPlace', machines: { replaced: 0, inPlace: 3 } },
    ],
    [
      'if the update does not affect availability, none is',
      { options: updater('all', { affectsAvailability: false }).options },
      { verdict: 'inPlace', machines: { replaced: 0, inPlace: 3 } },
    ],
    [
      'scaling up at the same time',
      { after: { spec: { replicas: 5, template: { spec: { version: 'v1.34.1' } } } } },
      { verdict: 'replaced', machines: { before: 3, after: 5, replaced: 1, inPlace: 2 } },
    ],
    [
      'scaling down leaves room',
      { after: { spec: { replicas: 2, template: { spec: { version: 'v1.34.1' } } } } },
      { verdict: 'scaled', machines: { before: 3, after: 2, replaced: 0, inPlace: 2 } },
    ],
    [
      'a single Machine is replaced',
      { machineSets: [machineSet('md-a', ['a-1'])], before: { spec: { replicas: 1 } } },
      { verdict: 'replaced', machines: { replaced: 1, inPlace: 0 } },
    ],
    [
      'OnDelete asks nobody',
      { before: onDelete, options: { updatesInPlace: true, call: () => Promise.reject(new Error('asked')) } },
      { verdict: 'onDelete' },
    ],
    [
      'rollout.after asks nobody',
      {
        after: { spec: { rollout: { after: '2026-02-01T00:00:00Z' } } },
        options: { updatesInPlace: true, call: () => Promise.reject(new Error('asked')) },
      },
      { verdict: 'replaced', machines: { replaced: 3 } },
    ],
    ['no call is possible', { options: { updatesInPlace: true } }, { verdict: 'unknown', machines: { replaced: 0 } }],
  ])('%s', async (_, given, expected) => {
    expect(await judge({ after: newer, options: updater('all').options, ...given })).toMatchObject(expected);
  });

  test.each([
    [3, 0, 1, 0],
    [3, 1, 0, 1],
    [6, 0, 10, 0],
    [6, 1, 3, 0],
    [6, 10, 0, 1],
    [6, 3, 1, 0],
    [6, '50%', '10%', 1],
  ])('of %i Machines, with maxSurge %s and maxUnavailable %s', async (replicas, maxSurge, maxUnavailable, replaced) => {
    const before = { spec: { replicas, rollout: { strategy: { rollingUpdate: { maxSurge, maxUnavailable } } } } };
    const names = Array.from({ length: replicas }, (_, index) => `a-${index + 1}`);
    const machineSets = [machineSet('md-a', names)];
    const plan = await judge({ before, after: newer, machineSets, options: updater('all').options });
    expect(plan.machines).toEqual({ before: replicas, after: replicas, replaced, inPlace: replicas - replaced });
    expect(plan.replaces).toEqual(replaced === 0 ? undefined : [`a-${replicas}`]);
  });

  test.each([
    ['Newest', 'a-1'],
    ['Oldest', 'a-3'],
  ])('the one that is replaced is the last in the order %s', async (order, replaced) => {
    const set = current();
    for (const [index, { machine }] of set.machines.entries()) {
      Object.assign(machine.metadata as JsonObject, { creationTimestamp: `2026-01-0${index + 1}T00:00:00Z` });
    }
    const plan = await judge({
      before: { spec: { deletion: { order } } },
      after: newer,
      machineSets: [set],
      options: updater('all').options,
    });
    expect(plan.replaces).toEqual([replaced]);
  });

  test('what is not covered is named', async () => {
    const plan = await judge({
      after: spec({ version: 'v1.34.1', bootstrap: { configRef: { name: 'b-2' } } }),
      templates: { bootstrap: bootstrap('b-2', { preKubeadmCommands: ['b'] }) },
      options: updater(['machineSet']).options,
    });
    expect(plan).toMatchObject({ verdict: 'replaced', machines: { replaced: 3, inPlace: 0 } });
    expect(plan.manner).toContain(
      'updater does not cover spec.template.spec.preKubeadmCommands of the KubeadmConfigTemplate',
    );
  });

  test('MachineSets of older templates, which are not at hand, are not asked about', async () => {
    const { calls, options } = updater('all');
    const old = machineSet('md-old', ['a-1', 'a-2', 'a-3'], spec({ bootstrap: { configRef: { name: 'b-0' } } }));
    expect(await judge({ after: newer, machineSets: [old], options })).toMatchObject({ machines: { replaced: 3 } });
    expect(calls).toEqual([]);
  });
});
