export { type Budget, NotEvaluated } from './evaluate.ts';
export * from './match-conditions.ts';
export { type CheckedRules, checkRules, type ValidationRule } from './rule-checks.ts';
export { hasRules, validateRules } from './validation-rules.ts';
