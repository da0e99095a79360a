export { isOn } from './query-flag.ts';
export { get, list, type ReadRequest, select } from './reads.ts';
export { metadataOnly, type View } from './tables.ts';
export { watch } from './watches.ts';
