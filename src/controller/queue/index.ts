export { type ControllerPace, defaultPace } from './pace.ts';
export { createQueue, type Queue, type RunResult } from './queue.ts';
