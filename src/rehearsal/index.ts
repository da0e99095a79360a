export { createNames } from './cluster/index.ts';
export { type Fault, parseFault } from './faults.ts';
export { createTimeline, htmlPage, jsonLine } from './output/index.ts';
export { type Given, GivenError, type GivenObject, readGiven } from './read.ts';
export type { Entry } from './record.ts';
export { clusterOf, type RehearsalOptions, rehearse } from './rehearse.ts';
