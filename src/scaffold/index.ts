export { hookNames } from './handlers.ts';
export { type CertificateMaker, ProjectError, projectFiles, writeProject } from './project.ts';
