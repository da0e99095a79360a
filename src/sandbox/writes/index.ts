export { remove } from './deletion.ts';
export { scaleOf } from './scale.ts';
export type { WriteContext, WriteRequest } from './write-request.ts';
export { create, patch, update } from './writes.ts';
