import { madeUp } from './names.ts';
import type { ClusterPlan } from './plan-document.ts';
import type { World } from './world.ts';

/** A plan in which names that were made up for objects that do not exist yet are shown as such. */
export function withMadeUpNames(plan: ClusterPlan, worlds: readonly World[]): ClusterPlan {
  const [namespace = ''] = plan.cluster.split('/');
  const shown = (object: string) => (worlds.some((world) => world.hasText(object)) ? object : madeUp(object));
  const made = plan.groups.filter(
    ({ kind, name }) => name !== '' && shown(`${kind} ${namespace}/${name}`).endsWith('…'),
  );
  const problems = plan.problems.map((problem) => ({
    ...problem,
    text: made.reduce((text, { name }) => text.replaceAll(name, madeUp(name)), problem.text),
  }));
  return {
    ...plan,
    problems,
    groups: plan.groups.map((group) => {
      const prefix = `${group.kind} ${namespace}/`;
      const name = shown(`${prefix}${group.name}`).slice(prefix.length);
      // A topology's health check has the name of its group.
      const checkOf = (of: string) => `MachineHealthCheck ${namespace}/${of}`;
      const healthCheck = group.healthCheck?.map((cause) =>
        cause.object === checkOf(group.name) ? { ...cause, object: checkOf(name) } : cause,
      );
      return {
        ...group,
        name,
        causes: group.causes.map((cause) => ({ ...cause, object: shown(cause.object) })),
        ...(healthCheck && { healthCheck }),
      };
    }),
  };
}
