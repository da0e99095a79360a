export type { CallContext, Definitions } from './call-handler.ts';
export { Calls } from './calls.ts';
export { createWaits } from './waits.ts';
