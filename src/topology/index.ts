export {
  type Blueprint,
  type ClassPatch,
  type ClassVariable,
  defaultKinds,
  type MachineTemplates,
  type ProviderKinds,
} from './blueprint/blueprint.ts';
export { clusterInV1beta1, eachPart, inV1beta2 } from './objects/core-v1beta1.ts';
export type {
  CallHook,
  ExistingMachine,
  GroupChange,
  GroupObjects,
  GroupPart,
  HookAnswer,
  HookCall,
  JudgeGroup,
  PlanHook,
  PlanOptions,
  Provenance,
} from './objects/groups.ts';
export { createNames, type Names } from './objects/names.ts';
export { groupOf, nameOf, namespaceOf, type ObjectName, Objects, objectText } from './objects/objects.ts';
export {
  type Cause,
  type ClusterPlan,
  type GroupPlan,
  type Plan,
  type Problem,
  type Verdict,
  verdicts,
} from './objects/plan.ts';
export { providerInV1beta2 } from './objects/provider-v1beta1.ts';
export { has, oldestRelease, upgradeStepText } from './objects/releases.ts';
export { generateInline, InlinePatchError, templatesOf } from './patches/inline.ts';
export { type UpdateHook, type UpdateRequest, uncovered } from './rollout/in-place.ts';
export { judgeGroup } from './rollout/judge-group.ts';
export { TemplateError } from './templates/budget.ts';
export { isPatchEnabled, renderValueTemplate } from './templates/template.ts';
export { type Variables, variableValue } from './templates/variables.ts';
export { causeText, checkedTopology, define, definitionsIn, variablesFor, variablesOf } from './variables/variables.ts';
