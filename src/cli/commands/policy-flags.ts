import { parseRulesConfig, type RuleSetOptions, type RulesConfig } from '../../policy/index.ts';
import { choiceFlag, type Flags, type FlagValues, textFlag } from '../framework/flags.ts';
import { catalogFlags, readWith } from './catalog-flags.ts';

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
  ...catalogFlags,
} satisfies Flags;

/** @throws {UsageError} when a file that a flag names cannot be used. The message names flag, file and position. */
export function ruleSetOptionsOf(flags: FlagValues<typeof policyFlags>): RuleSetOptions & RulesConfig {
  const config = flags['rules-config'];
  return {
    profile: flags.profile,
    enforcement: flags.enforcement,
    clusterApi: flags['cluster-api-version'],
    ...(config === undefined ? parseRulesConfig('') : readWith('--rules-config', config, parseRulesConfig)),
  };
}
