export { isOn } from './query-flag.ts';
export { get, list, type ReadRequest, select, shownAlone } from './reads.ts';
export type { View } from './tables.ts';
export { watch } from './watches.ts';
