export type { Entry } from './events.ts';
export { type InputObject, type RehearsalInput, readInput } from './read.ts';
export { oldestRelease, type RehearsalOptions, rehearse } from './rehearse.ts';
export type { UserEdit } from './state.ts';
export { createTimeline, jsonLine } from './timeline.ts';
