import { isPaused, pausedAnnotation } from '../../extensionconfig/index.ts';
import { fieldAt, type JsonObject, objectText } from '../../kubernetes/index.ts';
import type { GroupChange } from '../world/groups.ts';
import type { GroupPlan } from '../world/plan-document.ts';

/**
 * The object that keeps a change of a group from happening: its Cluster with `spec.paused`, or the group itself with the
 * annotation (util/paused, v1.14). With the annotation at a Cluster, only its topology waits.
 */
export function pausing({ cluster, before, after }: GroupChange): JsonObject | undefined {
  const group = (after ?? before)?.object;
  const ofCluster =
    fieldAt(cluster, 'spec', 'topology') === undefined
      ? fieldAt(cluster, 'spec', 'paused') === true
      : isPaused(cluster);
  return ofCluster
    ? cluster
    : fieldAt(group, 'metadata', 'annotations', pausedAnnotation) === undefined
      ? undefined
      : group;
}

/** A MachineDeployment with `spec.paused` is scaled, and its rollouts wait. */
export const pausesRollouts = ({ kind, after }: GroupChange): boolean =>
  kind === 'MachineDeployment' && fieldAt(after?.object, 'spec', 'paused') === true;

/** The plan of a group of which nothing happens before an object is resumed: what happens then. */
export function whilePaused(plan: GroupPlan, object: JsonObject): GroupPlan {
  const { verdict, machines, replaces, problems = [], manner = [], ...rest } = plan;
  const { before } = machines;
  return verdict === 'unchanged' && problems.length === 0
    ? plan
    : {
        ...rest,
        verdict: 'unchanged',
        machines: { before, after: before, replaced: 0, inPlace: 0 },
        ...(verdict !== 'unchanged' && {
          held: { is: 'paused' as const, verdict, machines, ...(replaces && { replaces }) },
        }),
        manner: [`nothing happens as long as ${objectText(object)} is paused`, ...manner],
        ...(problems.length > 0 && { problems }),
      };
}

export function withoutRollout(plan: GroupPlan, object: JsonObject): GroupPlan {
  const { before, after } = plan.machines;
  const waiting = whilePaused(plan, object);
  return plan.machines.replaced + plan.machines.inPlace === 0 && plan.verdict !== 'onDelete'
    ? plan
    : {
        ...waiting,
        verdict: before === after ? 'unchanged' : 'scaled',
        machines: { before, after, replaced: 0, inPlace: 0 },
        manner: [`no Machine is replaced as long as ${objectText(object)} is paused`, ...(plan.manner ?? [])],
      };
}
