export { type Blueprint, readBlueprint } from './blueprint/blueprint.ts';
export { classOf, readClass } from './desired/planned-state.ts';
export { classKey } from './desired/refusals.ts';
export { type PlanRequest, plan } from './plan.ts';
export { judgeGroup } from './rollout/judge-group.ts';
export type { MachineStep } from './rollout/made-group.ts';
export { type Computed, SimulatedCluster, type SimulatedWorker } from './simulated.ts';
export { TemplateError } from './templates/budget.ts';
export { isPatchEnabled, renderValueTemplate } from './templates/template.ts';
export { type Variables, variableValue } from './templates/variables.ts';
export { discoverVariables } from './variables/discovery.ts';
export {
  type CallHook,
  type ExistingMachine,
  extensionOfHandler,
  type GroupChange,
  type GroupObjects,
  type HookAnswer,
  type HookCall,
  type PlanHook,
  type PlanOptions,
} from './world/groups.ts';
export { isMade, layered } from './world/layered.ts';
export { NotKnown } from './world/not-known.ts';
export {
  coreGroup,
  groupOf,
  isPaused,
  nameOf,
  namespacedName,
  namespaceOf,
  objectText,
} from './world/objects.ts';
export {
  type Cause,
  type ClusterPlan,
  type GroupPlan,
  type Plan,
  type Problem,
  type Sum,
  sumOf,
  type Verdict,
} from './world/plan.ts';
export { prepared } from './world/prepared.ts';
export { inV1beta2 } from './world/v1beta1.ts';
export { type DryRun, type Unread, World } from './world/world.ts';
