export { parseRulesConfig, RulesConfigError } from './config-file.ts';
export { exampleReports } from './example-reports.ts';
export { annotatedSecret, namedSecret } from './fields/index.ts';
export type { Finding, Rule, RuleInput, RuleOptions, Severity, Situation, Subject } from './rule.ts';
export {
  type ActiveRule,
  createRuleSet,
  type Level,
  maxReports,
  type Profile,
  type Report,
  type ReportedRule,
  type RuleSet,
  type RuleSetOptions,
} from './rule-set.ts';
export { rules } from './rules.ts';
