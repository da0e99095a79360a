import {
  parseRulesConfig,
  type RuleSet,
  type RuleSetOptions,
  type RulesConfig,
  RulesConfigError,
} from '../../policy/index.ts';
import { choiceFlag, type Flags, type FlagValues, textFlag } from '../framework/flags.ts';
import { catalogFlags, handlerTimeoutFlag, readWith } from './catalog-flags.ts';

export const policyFlags = {
  profile: choiceFlag(
    'PROFILE',
    ['strict', 'upstream'],
    "strict: all rules; upstream: exactly what Cluster API's own webhook rejects",
  ),
  'rules-config': textFlag('FILE', 'YAML file that sets individual rules to off, warn or deny'),
  enforcement: choiceFlag(
    'MODE',
    ['deny', 'warn'],
    "warn: denials by rules that are not Cluster API's own become warnings",
  ),
  'max-handler-timeout-seconds': handlerTimeoutFlag,
  ...catalogFlags,
} satisfies Flags;

/** @throws {UsageError} when a file that a flag names cannot be used. The message names flag, file and position. */
export function ruleSetOptionsOf(flags: FlagValues<typeof policyFlags>): RuleSetOptions & Partial<RulesConfig> {
  const config = flags['rules-config'];
  return {
    profile: flags.profile,
    enforcement: flags.enforcement,
    maxHandlerTimeoutSeconds: flags['max-handler-timeout-seconds'],
    clusterApi: flags['target-cluster-api-version'],
    ...(config === undefined ? {} : readWith('--rules-config', config, parseRulesConfig, RulesConfigError)),
  };
}

/** Why these rules use no facts, as the end of a sentence about the flag; undefined if an enabled rule does. */
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
