export { type ControllerMetrics, createControllerMetrics } from './metrics.ts';
export type { Worker } from './worker.ts';
export { type Mode, workersFor } from './workers.ts';
