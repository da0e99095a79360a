import { runtimeSdkFeatureGate } from '../../../extensionconfig/index.ts';
import { createRuleSet } from '../../../policy/index.ts';
import { createHookCatalog } from '../../../runtimehooks/index.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import { whyFactsAreUnused } from '../unused-facts.ts';
import type { ServeFlags } from './flags.ts';
import type { ServePolicy } from './policy.ts';

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
