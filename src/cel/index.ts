export {
  type MatchCondition,
  matchConditionCauses,
  matchesConditions,
  UndecidedConditions,
} from './match-conditions.ts';
export { checkRules, validateRules } from './validation-rules.ts';
