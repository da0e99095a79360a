import { hash } from 'node:crypto';
import type { ClusterPlan } from './plan-document.ts';
import type { World } from './world.ts';

/** Of generated names (apimachinery, util/rand). */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Longest name, and how much of it remains with a suffix, so that it is a valid label. */
const maxName = 63;
const maxGenerated = 58;

/** A suffix as an API server would generate it, but the same for the same base and purpose. */
export function suffixFor(base: string, purpose: string): string {
  const digest = hash('sha256', `${base} ${purpose}`, 'buffer');
  return [...digest.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('');
}

/** A name with such a suffix, which has five characters. */
export const generatedName = (base: string, purpose: string): string =>
  `${`${base}-`.slice(0, maxGenerated)}${suffixFor(base, purpose)}`;

/** A name that a template makes: the end of one that is too long is random. */
export const shortened = (name: string, random: string): string =>
  name.length > maxName ? `${name.slice(0, maxGenerated)}${random}` : name;

const generatedSuffix = new RegExp(`-[${letters}]{5}$`);

/** A made-up name as it is shown: `f1-md-0-…`. */
const madeUp = (name: string): string => name.replace(generatedSuffix, '-…');

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
