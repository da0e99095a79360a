export { hookNames } from './handlers.ts';
export { addHandlers, ProjectError, writeProject } from './project.ts';
export { TemplateTypesError, templateTypes } from './template-types.ts';
