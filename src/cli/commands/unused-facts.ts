import type { RuleSet, RuleSetOptions } from '../../policy/index.ts';

/**
 * Why these rules do not use facts about the cluster, and what to do, as the end of a sentence that begins with what
 * the flag does; undefined if an enabled rule uses facts.
 */
export function whyFactsAreUnused(
  flag: string,
  { active }: RuleSet,
  { profile }: Pick<RuleSetOptions, 'profile'>,
): string | undefined {
  if (active.some(({ rule }) => rule.about === 'facts')) {
    return undefined;
  }
  const [why, remedy] =
    profile === 'upstream'
      ? ['the rules that know the cluster are not in --profile upstream', '--profile strict or --rules-config']
      : ['--rules-config turns off all rules that know the cluster', '--rules-config'];
  return `but no rule needs it: ${why}. Remove ${flag}, or turn on such rules with ${remedy}`;
}
