export { type Fault, parseFault } from './faults.ts';
export type { ClusterApiLimits, Edit, Story } from './life/index.ts';
export { createNames, type Names } from './names.ts';
export { type RehearsalOptions, rehearse } from './play.ts';
export { GivenError, type GivenObject, readGiven } from './read.ts';
export type { CallEntry, EndEntry, Entry, EventEntry } from './record.ts';
export type { Subject } from './subject.ts';
