import { madeUp } from './names.ts';
import type { ClusterPlan } from './plan-document.ts';
import type { World } from './world.ts';

/** A plan in which names that were made up for objects that do not exist yet are shown as such. */
export function withMadeUpNames(plan: ClusterPlan, worlds: readonly World[]): ClusterPlan {
  const [namespace = ''] = plan.cluster.split('/');
  const isGiven = (kind: string, name: string) =>
    worlds.some((world) => world.namesOf(kind).has(`${namespace}/${name}`));
  const shown = (kind: string, name: string) => (isGiven(kind, name) ? name : madeUp(name));
  const shownObject = (text: string) => {
    const [kind = '', name = ''] = text.split(' ');
    return `${kind} ${namespace}/${shown(kind, name.slice(namespace.length + 1))}`;
  };
  return {
    ...plan,
    groups: plan.groups.map((group) => ({
      ...group,
      name: shown(group.kind, group.name),
      causes: group.causes.map((cause) => ({ ...cause, object: shownObject(cause.object) })),
      ...(group.healthCheck && {
        // A topology's health check has the name of its group.
        healthCheck: group.healthCheck.map((cause) =>
          cause.object === `MachineHealthCheck ${namespace}/${group.name}`
            ? { ...cause, object: `MachineHealthCheck ${namespace}/${shown(group.kind, group.name)}` }
            : cause,
        ),
      }),
    })),
  };
}
