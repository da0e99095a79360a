export type { Check, CheckGroup, CheckLevel, CheckProblem } from './check.ts';
export { checks } from './checks.ts';
export { conductAsJunit, conductAsText } from './formats/index.ts';
export { type CheckResult, type CheckStatus, type Conduct, checkConduct } from './run.ts';
