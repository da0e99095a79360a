export { type ControllerOptions, type Mode, type RunningController, startController } from './controller.ts';
export type { ControllerPace } from './pace.ts';
