export type { Effect, MachinePoolKind, PoolChange, Rule } from './kind.ts';
export { machinePoolKinds } from './kinds.ts';
