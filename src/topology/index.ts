export {
  type Blueprint,
  defaultKinds,
  definitionsIn,
  kindOfTemplate,
  type MachineTemplates,
  type ProviderKinds,
  readBlueprint,
} from './blueprint/blueprint.ts';
export { type Desired, desiredOf, workerLists, workerOf } from './desired/desired.ts';
export { classOf } from './desired/planned-state.ts';
export { classKey, concurrencyAnnotation, topologyCauses } from './desired/refusals.ts';
export { controlPlaneSteps, lowestVersion, minorOf, versionRefusal } from './desired/upgrade-steps.ts';
export {
  clusterBuiltin,
  deferAnnotation,
  holdAnnotation,
  holderText,
  type Item,
  itemsOf,
  type PatchInput,
  placeOf,
  upgradeStepAnnotation,
  variable,
  type WorkerPlace,
  withoutBookkeeping,
} from './patches/items.ts';
export { PatchingFailed, patchTemplates, templateProblems } from './patches/patch-templates.ts';
export { type DryRun, type PlanRequest, plan } from './plan.ts';
export {
  type ControlPlane,
  machineSetParts,
  type UpdateHook,
  type UpdateRequest,
  uncovered,
  updateMachineRequest,
} from './rollout/in-place.ts';
export { judgeGroup } from './rollout/judge-group.ts';
export { controlPlaneMachine, fencepostsOf, machineSetOf, workerMachine } from './rollout/machines.ts';
export { NotComputed, TemplateError } from './templates/budget.ts';
export { isPatchEnabled, renderValueTemplate } from './templates/template.ts';
export { type Variables, variableValue } from './templates/variables.ts';
export { causeText, checkedTopology, define } from './variables/variables.ts';
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
export { generatedName, nameFor } from './world/names.ts';
export { NotKnown } from './world/not-known.ts';
export {
  coreGroup,
  groupOf,
  isPaused,
  nameOf,
  namespacedName,
  namespaceOf,
  Objects,
  objectText,
} from './world/objects.ts';
export type { Cause, ClusterPlan, GroupPlan, Plan, Problem, Verdict } from './world/plan.ts';
export { has, oldestRelease, upgradeStepText } from './world/releases.ts';
export { clusterInV1beta1, inV1beta2 } from './world/v1beta1.ts';
