export { hookNames } from './handlers.ts';
export { ProjectError, projectFiles, writeProject } from './project.ts';
