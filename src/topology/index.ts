export { type Blueprint, templateReferences } from './blueprint/blueprint.ts';
export { definitionNotes } from './desired/definitions.ts';
export { readClass } from './desired/planned-state.ts';
export { WriteFailed } from './desired/reconciled.ts';
export { type UserWrite, userWrites } from './desired/user-writes.ts';
export { PatchingFailed } from './patches/patch-templates.ts';
export { plan } from './plan-topology.ts';
export type { PlanRequest } from './planning.ts';
export type { MachineStep } from './rollout/index.ts';
export { SimulatedCluster } from './simulated.ts';
export { discoverVariables } from './variables/discovery.ts';
export type { CallHook, HookAnswer, HookCall } from './world/groups.ts';
export { isMade, layered } from './world/layered.ts';
export { NotKnown } from './world/not-known.ts';
export { conditionOf, coreGroup } from './world/objects.ts';
export {
  type Cause,
  type ClusterPlan,
  type GroupPlan,
  type Plan,
  type Problem,
  type Sum,
  sumOf,
  type Verdict,
} from './world/plan-document.ts';
export { prepared } from './world/prepared.ts';
export { classNameOf } from './world/topologies.ts';
export { inV1beta2 } from './world/v1beta1.ts';
export { type Unread, World } from './world/world.ts';
