export { type ControllerOptions, type RunningController, startController } from './controller.ts';
export type { ControllerPace } from './discovery.ts';
export { clusterApiLease, findRival } from './election/lease.ts';
