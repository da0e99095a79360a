export { isOn } from './query-flag.ts';
export { get, list, type ReadRequest, select, watch } from './reads.ts';
export type { View } from './tables.ts';
