export { applyOperations, type Operation } from './json-patch.ts';
export { applyJsonPatch, applyMergePatch, isOperation } from './patches.ts';
export { applyStrategicMerge } from './strategic-merge.ts';
