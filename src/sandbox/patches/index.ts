export { applyJsonPatch } from './patches.ts';
export { applyStrategicMerge } from './strategic-merge.ts';
