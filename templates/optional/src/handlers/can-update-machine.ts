/** {{summary}} */
export { canUpdateMachine } from '../in-place.ts';
