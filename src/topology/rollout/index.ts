export type { ExistingMachine, GroupChange, GroupObjects, PlanOptions } from '../world/groups.ts';
export { groupsWithout } from './groups-without.ts';
export { judgeGroup, unjudged } from './judge-group.ts';
export { replicasOf } from './machines.ts';
export { type MachineStep, MadeGroup, type PlayOptions } from './made-group.ts';
export { peakOf } from './peak.ts';
