import {
  type Admission,
  type AdmissionPolicy,
  createAdmission,
  createRuleSet,
  type RuleSet,
  type RuleSetOptions,
  type Severity,
} from '../../../policy/index.ts';

/** The operator's configuration as plain data, by which both threads of `serve` decide. */
export interface ServePolicy {
  rules: RuleSetOptions;
  isRuntimeSdkEnabled: boolean;
  hasFacts: boolean;
  /** Severity of findings about extension servers; absent if servers are not probed. */
  probes: Severity | undefined;
}

export function ruleSetOf({ rules }: ServePolicy): RuleSet {
  return createRuleSet(rules);
}

export function admissionOf(policy: ServePolicy, facts: AdmissionPolicy['facts']): Admission {
  const { isRuntimeSdkEnabled, probes } = policy;
  return createAdmission({ rules: ruleSetOf(policy), isRuntimeSdkEnabled, now: () => new Date(), facts, probes });
}
