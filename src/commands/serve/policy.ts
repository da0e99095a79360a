import { type Admission, createAdmission } from '../../admission/index.ts';
import { runtimeSdkFeatureGate } from '../../api/index.ts';
import { createHookCatalog, type Lifecycle } from '../../hooks/index.ts';
import { createRuleSet, type RuleSetOptions } from '../../rules/index.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import type { ServeFlags } from './flags.ts';

/** What an operator has decided, as plain data: both threads of `serve` make their decisions from it. */
export interface ServePolicy {
  rules: Omit<RuleSetOptions, 'hooks'>;
  lifecycles: readonly Lifecycle[];
  isRuntimeSdkEnabled: boolean;
}

/**
 * The policy that the flags of `serve` ask for.
 *
 * @throws {UsageError} when a file that a flag names cannot be used.
 */
export function servePolicyOf(flags: ServeFlags): ServePolicy {
  const { hooks, ...rules } = ruleSetOptionsOf(flags);
  return {
    rules,
    lifecycles: hooks.lifecycles,
    isRuntimeSdkEnabled: flags['feature-gates'][runtimeSdkFeatureGate] === true,
  };
}

/** The decisions of a policy. */
export function admissionOf({ rules, lifecycles, isRuntimeSdkEnabled }: ServePolicy): Admission {
  return createAdmission({
    rules: createRuleSet({ ...rules, hooks: createHookCatalog(lifecycles) }),
    isRuntimeSdkEnabled,
    now: () => new Date(),
  });
}
