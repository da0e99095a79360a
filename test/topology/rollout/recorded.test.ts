import { expect, test } from 'vitest';
import { jsonPatchOf, textAt } from '../../../src/kubernetes/index.ts';
import type { HookCall } from '../../../src/topology/index.ts';
import { type GroupChange, judgeGroup } from '../../../src/topology/rollout/index.ts';
import { testRows } from '../../support/rows.ts';
import { type RecordedChange, recordedChanges } from '../recorded.ts';
import { answerTo, groupChanges } from './recorded.ts';

const groups = recordedChanges.flatMap((recording) =>
  groupChanges(recording).map((change) => ({ name: `${recording.name}: ${change.group}`, recording, change })),
);
const now = new Date('2026-11-24T06:00:00Z');

/** The plan of a group of a recording, and the calls that were made for it. */
async function planOf({ recording, change }: (typeof groups)[number]) {
  const calls: HookCall[] = [];
  const plan = await judgeGroup(change, {
    now,
    clusterApiVersion: { major: 1, minor: 13 },
    updatesInPlace: true,
    call: (call) => {
      calls.push(call);
      return Promise.resolve(answerTo(call, recording));
    },
  });
  return { plan, calls };
}

/** What was recorded of a group; that Cluster API stopped elsewhere, a group cannot know. */
function recordedOf({ expected }: RecordedChange, group: string) {
  const recorded = expected[group];
  return recorded?.verdict === 'stopped' ? { ...recorded, verdict: 'unchanged' } : (recorded ?? {});
}

test('there are recordings of all sorts', () => {
  expect(groups.length).toBe(96);
});

const rows = groups.map((group) => [group.name, group] as const);

testRows('the objects before and after a recorded change are judged as it went', rows, async (group) => {
  const { plan } = await planOf(group);
  expect(plan).toMatchObject(recordedOf(group.recording, group.change.group));

  const remaining = new Set(
    group.recording.after.map((object) => `${object.kind} ${textAt(object, 'metadata', 'name')}`),
  );
  const gone = (group.change.machines ?? [])
    .map(({ machine }) => textAt(machine, 'metadata', 'name'))
    .filter((name) => !remaining.has(`Machine ${name}`));
  const replaced = plan.verdict === 'onDelete' ? [] : (plan.replaces ?? []);
  expect(replaced.toSorted()).toEqual(gone.toSorted());
  expect(plan.problems, 'no Machine was outdated before').toBeUndefined();
  expect(plan.causes.length > 0).toBe(['replaced', 'inPlace', 'onDelete', 'scaled'].includes(plan.verdict));
});

/** What a user may not give of a group. */
const missing: Record<string, (change: GroupChange) => Partial<GroupChange>> = {
  'no Machines and MachineSets': () => ({ machines: undefined, machineSets: [] }),
  'no MachineSets': () => ({ machineSets: [] }),
  'no KubeadmConfigs and infrastructure Machines': ({ machines }) => ({
    machines: machines?.map(({ machine }) => ({
      machine,
      bootstrapConfig: undefined,
      infrastructureMachine: undefined,
    })),
  }),
};

test.each(Object.entries(missing))('with %s, the verdicts are the same', async (_, without) => {
  for (const { name, recording, change } of groups) {
    const { plan } = await planOf({ name, recording, change: { ...change, ...without(change) } });
    expect(plan, name).toMatchObject(recordedOf(recording, change.group));
    expect(plan.problems, name).toBeUndefined();
  }
});

test('Machines that exist after a change are up to date with the objects after it', async () => {
  // Machines of OnDelete stay as they are, and E8 stops before the MachineDeployments.
  const steady = recordedChanges.filter(({ name }) => !name.startsWith('E8') && !name.includes('on-delete'));
  for (const recording of steady) {
    for (const change of groupChanges({ ...recording, before: recording.after })) {
      const { verdict, problems } = await judgeGroup(change, { now });
      expect({ name: `${recording.name}: ${change.group}`, verdict, problems }).toEqual({
        name: `${recording.name}: ${change.group}`,
        verdict: 'unchanged',
        problems: undefined,
      });
    }
  }
});

test('extensions are asked as Cluster API asked them', async () => {
  /** A name and a hash that Cluster API makes up. */
  const madeUp = /\/(?:machine-template-hash|metadata\/name)$/;
  let compared = 0;
  for (const group of groups.filter(({ recording }) => recording.name.startsWith('I'))) {
    for (const call of (await planOf(group)).calls) {
      const name = (request: HookCall['request']) =>
        textAt(request, 'current', call.hook === 'CanUpdateMachine' ? 'machine' : 'machineSet', 'metadata', 'name');
      const exchange = group.recording.exchanges.find(
        ({ hook, request }) => hook === call.hook.toLowerCase() && name(request) === name(call.request),
      );
      const { kind: _kind, apiVersion: _version, ...request } = exchange?.request ?? {};
      const differences = jsonPatchOf(request, call.request).filter(({ path }) => !madeUp.test(path));
      expect(differences, `${group.name}, ${name(call.request)}`).toEqual([]);
      compared++;
    }
  }
  expect(compared).toBe(8);
});
