export { type ControllerOptions, type RunningController, startController } from './controller.ts';
export { clusterApiLease, findRival } from './election/lease.ts';
export type { ControllerPace } from './workers/worker.ts';
export type { Mode } from './workers/workers.ts';
