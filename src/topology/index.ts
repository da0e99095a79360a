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
