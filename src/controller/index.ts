export { type ControllerOptions, type RunningController, startController } from './controller.ts';
export type { LeaderElectionOptions } from './leader-election.ts';
export type { ControllerPace } from './pace.ts';
export { clusterApiLease, RivalError } from './rival.ts';
export type { Mode } from './workers.ts';
