export { oldestRelease } from '../../topology/index.ts';
export type { UserEdit } from './cluster/state.ts';
export { type Fault, parseFault } from './faults.ts';
export { createTimeline, jsonLine } from './output/text.ts';
export { InputError, type InputObject, type RehearsalInput, readInput } from './read.ts';
export type { Entry } from './record.ts';
export { clusterOf, type RehearsalOptions, rehearse } from './rehearse.ts';
export { olderCluster, samples } from './sample-objects.ts';
