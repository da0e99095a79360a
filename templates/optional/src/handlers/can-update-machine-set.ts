/** {{summary}} */
export { canUpdateMachineSet } from '../in-place.ts';
