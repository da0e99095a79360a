import { type JsonObject, nameOf, textAt } from '../kubernetes/index.ts';
import { controlPlaneOf } from './control-planes/index.ts';
import { type Existing, existingOf, machinesOf } from './desired/existing.ts';
import { storedGroup, versionOf } from './desired/group-changes.ts';
import {
  type ClusterBefore,
  controlPlaneAfter,
  judge,
  type Outcome,
  type Planning,
  withHealthChecks,
  withRefusals,
} from './planning.ts';
import { replicasOf, unjudged } from './rollout/index.ts';
import type { GroupChange, GroupObjects } from './world/groups.ts';
import { nameIn } from './world/objects.ts';
import type { GroupPlan, Problem } from './world/plan-document.ts';

function changesOf({ before, after }: Planning, cluster: JsonObject, old: Existing, now: Existing): GroupChange[] {
  const workers = [...new Set([...old.workers.keys(), ...now.workers.keys()])].map(
    (key) => [old.workers.get(key), now.workers.get(key)] as const,
  );
  const changeOf = (was: GroupObjects | undefined, next: GroupObjects | undefined): GroupChange[] => {
    const object = (next ?? was)?.object;
    if (object === undefined) {
      return [];
    }
    const isControlPlane = object === (now.controlPlane ?? old.controlPlane)?.object;
    const [kind, name] = [textAt(object, 'kind'), nameOf(object)];
    const group = isControlPlane ? 'control-plane' : name;
    return [
      {
        cluster,
        group,
        kind,
        name,
        before: was && storedGroup(was, before.schemaOf),
        after: next && storedGroup(next, after.schemaOf),
        ...machinesOf(cluster, before.world, { group, kind, name }),
        versions: [...new Set([was, next].flatMap((of) => (of === undefined ? [] : [versionOf(of.object)])))],
        notes: [],
        from: () => undefined,
      },
    ];
  };
  return [[old.controlPlane, now.controlPlane] as const, ...workers].flatMap(([was, next]) => changeOf(was, next));
}

function refusalOf({ writes }: Planning, { before, after }: GroupChange): Problem | undefined {
  if (after === undefined) {
    return undefined;
  }
  const [old, name] = [before?.object, nameIn(after.object)];
  const text = old && !writes.isTaken(name) ? controlPlaneOf(old)?.refusal?.(old, after.object, true) : undefined;
  return writes.refusalOf(name) ?? (text === undefined ? undefined : { text });
}

function withTemplateRefusal({ writes }: Planning, group: GroupPlan, { before }: GroupChange): GroupPlan {
  const problem = [before?.infrastructure, before?.bootstrap]
    .map((template) => template && writes.refusalOf(nameIn(template)))
    .find((one) => one !== undefined);
  return problem === undefined
    ? group
    : {
        ...group,
        verdict: group.verdict === 'unchanged' ? 'refused' : group.verdict,
        problems: [...(group.problems ?? []), problem],
      };
}

/** The plan of a Cluster without a topology: what a user changed of its control plane and its groups of workers. */
export async function planWithout(
  planning: Planning,
  { cluster: was }: ClusterBefore,
  { cluster, refusal }: { cluster: JsonObject; refusal: Problem | undefined },
): Promise<Outcome> {
  const old = existingOf(was ?? cluster, planning.before.world, false);
  const changes = changesOf(planning, cluster, old, existingOf(cluster, planning.after.world, false));
  const none = { cluster: undefined, blueprint: undefined };
  let controlPlane = controlPlaneAfter(changes);
  const groups: GroupPlan[] = [];
  for (const change of changes) {
    const unwritten = refusalOf(planning, change);
    if (unwritten === undefined) {
      const group = await judge(planning, { ...change, controlPlane }, [none, none]);
      groups.push(withTemplateRefusal(planning, group, change));
    } else {
      controlPlane = change.group === 'control-plane' ? change.before?.object : controlPlane;
      const group = unjudged(change, 'refused', replicasOf(change.before?.object));
      groups.push(withHealthChecks(planning, { ...group, problems: [unwritten] }, change, [none, none]));
    }
  }
  return refusal === undefined
    ? { groups, problems: [], changes }
    : { groups: withRefusals(groups, cluster, refusal), problems: [refusal], changes };
}
