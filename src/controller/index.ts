export { type ControllerOptions, type RunningController, startController } from './controller.ts';
export type { LeaderElectionOptions } from './election/index.ts';
export type { ControllerPace } from './queue/index.ts';
export { clusterApiLease, RivalError } from './rival.ts';
export type { Mode } from './workers/index.ts';
