export { oldestRelease } from '../../topology/index.ts';
export { type Fault, parseFault } from './calls.ts';
export type { Entry } from './events.ts';
export { InputError, type InputObject, type RehearsalInput, readInput } from './read.ts';
export { type RehearsalOptions, rehearse } from './rehearse.ts';
export { olderCluster, samples } from './sample-objects.ts';
export type { UserEdit } from './state.ts';
export { createTimeline, jsonLine } from './timeline.ts';
