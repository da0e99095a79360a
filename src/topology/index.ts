export { definitionNotes } from './desired/definitions.ts';
export { readClass, templateReferences } from './desired/planned-state.ts';
export { userWrites } from './desired/user-writes.ts';
export { layered } from './manifests/layered.ts';
export { inV1beta2 } from './manifests/v1beta1.ts';
export { ReconcileFailed } from './patches/patch-templates.ts';
export { plan } from './plan-topology.ts';
export type { PlanRequest } from './planning.ts';
export { unservedKind } from './refusals/index.ts';
export { SimulatedCluster } from './simulated.ts';
export { discoverVariables } from './variables/variables.ts';
export type { CallHook, HookAnswer, HookCall } from './world/groups.ts';
export { NotKnown } from './world/not-known.ts';
export { conditionOf } from './world/objects.ts';
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
export { World } from './world/world.ts';
