export { createPlanCaller, type PlanCaller, type StateExtensions } from './calls.ts';
export { type Edits, edited, isCluster } from './edits.ts';
export { withoutSecretCauses, withoutSecretValues } from './hidden.ts';
export { planPage } from './page.ts';
export { planText } from './text.ts';
export { problemText } from './words.ts';
