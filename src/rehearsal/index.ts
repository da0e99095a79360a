export type { ClusterApiLimits, RehearsedCluster, UserEdit } from './cluster/index.ts';
export { createNames, type Names } from './cluster/index.ts';
export { type Fault, parseFault } from './faults.ts';
export type { Story } from './life/index.ts';
export { createTimeline, htmlPage, jsonLine } from './output/index.ts';
export { type Given, GivenError, type GivenObject, readGiven } from './read.ts';
export type { CallEntry, EndEntry, Entry, EventEntry } from './record.ts';
export { clusterOf, type RehearsalOptions, rehearse } from './rehearse.ts';
