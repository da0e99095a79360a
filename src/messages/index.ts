export { formatProblems, type MessageProblem, messageProblems, prepareChecks } from './checks.ts';
export type { Strictness } from './compile.ts';
export { type Components, componentOf, componentsOf } from './components.ts';
export { decodeRequest, decodeResponse } from './decode.ts';
export * from './openapi/index.ts';
export { sampleRequest, sampleResponse } from './sample.ts';
export {
  compareVersions,
  type KubernetesVersion,
  parseVersion,
  type UpgradePlan,
  upgradePlanProblems,
} from './upgrade-plan.ts';
