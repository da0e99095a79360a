export type { Budget } from './cel-budget.ts';
export {
  type MatchCondition,
  matchConditionCauses,
  matchesConditions,
  UndecidedConditions,
} from './match-conditions.ts';
export { type CheckedRules, checkRules } from './rule-checks.ts';
export { hasRules, validateRules } from './validation-rules.ts';
