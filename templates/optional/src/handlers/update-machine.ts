/** {{summary}} */
export { updateMachine } from '../in-place.ts';
