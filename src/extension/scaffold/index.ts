export { hookNames } from './handlers.ts';
export { addHandlers, writeProject } from './project.ts';
export { templateTypes } from './template-types.ts';
