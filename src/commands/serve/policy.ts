import { type Admission, type AdmissionPolicy, createAdmission } from '../../admission/index.ts';
import { runtimeSdkFeatureGate } from '../../api/index.ts';
import { createHookCatalog, type Lifecycle } from '../../hooks/index.ts';
import { createRuleSet, type RuleSetOptions, type Severity } from '../../rules/index.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import { whyFactsAreUnused } from '../unused-facts.ts';
import type { ServeFlags } from './flags.ts';

/** The operator's configuration as plain data, by which both threads of `serve` decide. */
export interface ServePolicy {
  rules: Omit<RuleSetOptions, 'hooks'>;
  lifecycles: readonly Lifecycle[];
  isRuntimeSdkEnabled: boolean;
  /** Whether rules get facts about the cluster. */
  hasFacts: boolean;
  /** Severity of findings about extension servers; absent if servers are not probed. */
  probes: Severity | undefined;
}

/**
 * The policy according to the flags of `serve`.
 *
 * @throws {UsageError} when a file that a flag names cannot be used.
 */
export function servePolicyOf(flags: ServeFlags): ServePolicy {
  const { hooks, ...rules } = ruleSetOptionsOf(flags);
  return {
    rules,
    lifecycles: hooks.lifecycles,
    isRuntimeSdkEnabled: flags['feature-gates'][runtimeSdkFeatureGate] === true,
    hasFacts: flags['cluster-facts'],
    // Like rules that are not Cluster API's own.
    probes: flags.probe === 'off' ? undefined : flags.enforcement === 'warn' ? 'warn' : flags.probe,
  };
}

/** A warning if the cluster is watched although no enabled rule needs that; otherwise undefined. */
export function unusedFacts({ rules, lifecycles, hasFacts, probes }: ServePolicy): string | undefined {
  // Probes need the CA in a Secret.
  if (!hasFacts || probes !== undefined) {
    return undefined;
  }
  const ruleSet = createRuleSet({ ...rules, hooks: createHookCatalog(lifecycles) });
  const why = whyFactsAreUnused('--cluster-facts', ruleSet, rules);
  return why && `--cluster-facts watches the cluster, ${why}`;
}

/** The decisions for a policy, with facts about the cluster if the policy requires them. */
export function admissionOf(
  { rules, lifecycles, isRuntimeSdkEnabled, probes }: ServePolicy,
  facts: AdmissionPolicy['facts'],
): Admission {
  return createAdmission({
    rules: createRuleSet({ ...rules, hooks: createHookCatalog(lifecycles) }),
    isRuntimeSdkEnabled,
    now: () => new Date(),
    facts,
    probes,
  });
}
