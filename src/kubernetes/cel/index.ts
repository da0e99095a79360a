export type { Budget } from './evaluate.ts';
export {
  type MatchCondition,
  matchConditionCauses,
  matchesConditions,
  UndecidedConditions,
} from './match-conditions.ts';
export type { ValidationRule } from './rule.ts';
export { type CheckedRules, checkRules } from './rule-checks.ts';
export { hasRules, validateRules } from './validation-rules.ts';
