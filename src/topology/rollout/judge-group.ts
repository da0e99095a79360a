import { groupOf, textAt } from '../../kubernetes/index.ts';
import { controlPlaneOf } from '../control-planes/index.ts';
import { causeOf } from '../world/differences.ts';
import type { GroupChange, PlanOptions } from '../world/groups.ts';
import { asEnd } from '../world/not-known.ts';
import type { Cause, GroupPlan, Verdict } from '../world/plan-document.ts';
import { controlPlaneRollout } from './control-plane.ts';
import { explained } from './explained.ts';
import { type GroupUpdate, groupPlan, machinesBefore, partDifferences } from './group-plan.ts';
import { asHeld } from './held.ts';
import { machineDeploymentArrivals, machineDeploymentRollout } from './machine-deployment.ts';
import { machinePoolRollout } from './machine-pool.ts';
import { replicasOf } from './machines.ts';

const allCauses = (update: GroupUpdate): Cause[] =>
  partDifferences(update).map(({ part, difference }) => causeOf(part, difference, update));

function judgeForeign(update: GroupUpdate): GroupPlan {
  const isScaling = ({ part, difference }: ReturnType<typeof partDifferences>[number]) =>
    part === 'object' && difference.path.join('.') === 'spec.replicas';
  if (partDifferences(update).every(isScaling)) {
    return groupPlan(update, {}, []);
  }
  const { object } = update.after;
  const manner = [`${textAt(object, 'kind')} (${groupOf(object)}) decides what becomes of Machines`];
  return groupPlan(update, { verdict: 'unknown', causes: allCauses(update), manner }, []);
}

/** A group about whose Machines nothing is known but their number. */
export function unjudged(
  { group, kind, name }: Pick<GroupPlan, 'group' | 'kind' | 'name'>,
  verdict: Verdict,
  before: number,
  after = before,
): GroupPlan {
  return { group, kind, name, verdict, machines: { before, after, replaced: 0, inPlace: 0 }, causes: [] };
}

/** Decides what happens to a group's Machines when its objects change: if that cannot be known, why, and what changes. */
export async function judgeGroup(change: GroupChange, options: PlanOptions): Promise<GroupPlan> {
  const plan = await judgedOrNot(change, options);
  return options.explains === true ? explained(plan, change, options) : plan;
}

async function judgedOrNot(change: GroupChange, options: PlanOptions): Promise<GroupPlan> {
  const { before, after, end } = change;
  try {
    if (end !== undefined) {
      throw end;
    }
    return await asHeld(change, options, (some) => judged(change, some));
  } catch (error) {
    const { is, problem } = asEnd(error);
    const plan = unjudged(change, is, machinesBefore(change));
    if (is === 'stopped') {
      return plan;
    }
    const causes = before && after ? allCauses({ ...change, before, after }) : [];
    return { ...plan, causes, problems: [problem] };
  }
}

async function judged(given: GroupChange, options: PlanOptions): Promise<GroupPlan> {
  const { before, after, kind, machines } = given;
  if (before === undefined || after === undefined) {
    const [is, count] =
      after === undefined ? (['deleted', 0] as const) : (['created', replicasOf(after.object)] as const);
    return unjudged(given, is, machinesBefore(given), count);
  }
  // A group that wants Machines, and of which none is known, has some that were not given.
  const isMissing = machines?.length === 0 && replicasOf(before.object) > 0;
  const update = { ...given, before, after, machines: isMissing ? undefined : machines };
  const of = controlPlaneOf(before.object);
  if (of !== undefined) {
    const rollout = of.hasMachines === false ? {} : await controlPlaneRollout({ of, ...update }, options);
    return groupPlan(update, rollout, of.arrivals(after.object));
  }
  switch (kind) {
    case 'MachineDeployment':
      return groupPlan(update, await machineDeploymentRollout(update, options), machineDeploymentArrivals(update));
    case 'MachinePool':
      return groupPlan(update, machinePoolRollout(update), []);
    default:
      return judgeForeign(update);
  }
}
