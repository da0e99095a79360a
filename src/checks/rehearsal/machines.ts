import type { JsonObject } from '../../kubernetes/index.ts';
import type { CallHook, SimulatedCluster } from '../../topology/index.ts';
import { backoffMs, call, waitMs } from './ask.ts';
import { SimulationStopped } from './events.ts';
import type { State } from './state.ts';

type OutdatedGroup = SimulatedCluster['outdated'][number];
type FollowStep = Parameters<SimulatedCluster['rollOut']>[2]['follow'];

const creationMs = 60_000;

/** Makes a call until it succeeds. @param subject what a call that keeps failing is about, as the beginning of a sentence. */
async function answerTo(
  state: State,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
  subject = '',
): Promise<{ calls: readonly object[]; response: JsonObject }> {
  for (let failures = 1; ; failures++) {
    const answer = await call(state, hook, request);
    if (answer.ok) {
      return answer;
    }
    if (failures >= state.limits.maxFailures) {
      throw new SimulationStopped(`${subject}${hook} failed ${failures} times in a row: ${answer.error}`);
    }
    await state.passUntil(state.now + backoffMs(failures));
  }
}

/** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
async function updateMachine(state: State, name: string, desired: JsonObject): Promise<void> {
  for (;;) {
    const { response } = await answerTo(state, 'UpdateMachine', { desired }, `Machine ${name} is not updated, `);
    const { retryAfterSeconds: seconds } = response;
    if (typeof seconds !== 'number' || seconds <= 0) {
      return;
    }
    await state.passUntil(state.now + waitMs(seconds));
  }
}

/** Plays the rollout of a group. Of a control plane, only updates in place are shown. */
async function play(state: State, group: OutdatedGroup): Promise<void> {
  const isControlPlane = group.topologyName === undefined;
  let asked = 0;
  const ask: CallHook = async ({ hook, request }) => {
    asked++;
    const { calls, response } = await answerTo(state, hook as 'CanUpdateMachine', request);
    return calls.length === 0 ? { is: 'none' } : { is: 'answered', response, handler: '' };
  };
  const follow: FollowStep = async (step) => {
    const { is, name } = step;
    if (is === 'updated') {
      await updateMachine(state, name, step.desired);
    } else if (!isControlPlane) {
      if (is === 'made') {
        await state.passUntil(state.now + creationMs);
      }
      state.tell({ kind: 'machine', state: is === 'made' ? 'creating' : 'gone', name });
    }
  };
  const now = new Date(state.start.getTime() + state.now);
  const plan = await state.made.rollOut(group, state.cluster, { now, call: ask, follow });
  const [problem] = plan?.problems ?? [];
  if (plan?.verdict === 'refused' && problem !== undefined) {
    throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${problem.text}`);
  }
  if (isControlPlane && plan !== undefined && plan.machines.replaced > 0 && asked === 0) {
    const text = 'the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called';
    state.findOnce('warning', text, 'rehearse more machines, or set maxSurge to 0');
  }
}

export const outdatedGroups = ({ playsMachines, controlPlane, made }: State): OutdatedGroup[] =>
  playsMachines
    ? made.outdated.filter(({ topologyName }) => topologyName !== undefined || controlPlane.isInitialized)
    : [];

/** Rolls out groups as the controllers of machines do if the feature gate InPlaceUpdates is enabled. */
export async function rollOut(state: State, groups: readonly OutdatedGroup[]): Promise<void> {
  for (const group of groups) {
    await play(state, group);
    const worker = state.workers.find(
      ({ kind, topologyName }) => kind === group.kind && topologyName === group.topologyName,
    );
    if (worker?.readyAt !== undefined) {
      worker.readyAt = state.now;
    }
  }
}
