export { startDefinitionController } from './definition-controller.ts';
export { builtInResources } from './kinds.ts';
export { startNamespaceController } from './namespace-controller.ts';
