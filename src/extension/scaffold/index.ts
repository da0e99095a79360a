export { addHandlers, hookNames, writeProject } from './project.ts';
export { templateTypes } from './template-types.ts';
