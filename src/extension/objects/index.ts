export { type ChangeableFields, machinePatches, machineSetPatches } from './in-place.ts';
export { getField, segmentsOf, setField, step } from './json-path.ts';
