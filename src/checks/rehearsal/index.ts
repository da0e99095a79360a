export { playLife, type Scenario } from './life.ts';
export { type Entry, handlerCall } from './player.ts';
export { type InputObject, type RehearsalInput, readInput } from './read.ts';
export { oldestRelease, type RehearsalOptions, rehearse } from './rehearse.ts';
export { State, type UserEdit } from './state.ts';
export { createTimeline, jsonLine } from './timeline.ts';
