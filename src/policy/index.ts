export {
  type Admission,
  type AdmissionPolicy,
  allow,
  type ClusterKnowledge,
  createAdmission,
} from './admission/admission.ts';
export { type AdmissionOutcome, type Knowledge, rejectMalformed, warningText } from './admission/response.ts';
export { createManifestFacts } from './facts/manifest-facts.ts';
export {
  type FactKind,
  type Facts,
  type HandlerReference,
  type KnownCluster,
  type KnownExtensionConfig,
  type KnownSecret,
  referencesTo,
} from './facts/store.ts';
export {
  type ImpactConfig,
  parseRulesConfig,
  type RulesConfig,
  readLevels,
} from './rules/config-file.ts';
export type { Finding, Rule, RuleFinding, RuleInput, Severity } from './rules/rule.ts';
export {
  createRuleSet,
  type Level,
  parsedInput,
  type RuleSet,
  type RuleSetOptions,
} from './rules/rule-set.ts';
export { rules } from './rules/rules.ts';
