export type { Blueprint } from './blueprint/blueprint.ts';
export { upgradeSteps } from './desired/computed.ts';
export { definitionNotes } from './desired/definitions.ts';
export { readClass, templateReferences } from './desired/planned-state.ts';
export { WriteFailed } from './desired/reconciled.ts';
export { lowestVersion } from './desired/upgrade-steps.ts';
export { type UserWrite, userWrites } from './desired/user-writes.ts';
export { layered } from './manifests/layered.ts';
export { inV1beta2 } from './manifests/v1beta1.ts';
export { PatchingFailed } from './patches/patch-templates.ts';
export { plan } from './plan-topology.ts';
export type { PlanRequest } from './planning.ts';
export { unservedKind, upgradeConcurrency } from './refusals/index.ts';
export type { MachineStep } from './rollout/index.ts';
export { SimulatedCluster } from './simulated.ts';
export { discoverVariables } from './variables/discovery.ts';
export type { CallHook, HookAnswer, HookCall } from './world/groups.ts';
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
export { healthyStatus, isMade, prepared } from './world/prepared.ts';
export { classNameOf } from './world/topologies.ts';
export { type Unread, World } from './world/world.ts';
