export { startDefinitionController } from './definition-controller.ts';
export { startEventController } from './event-controller.ts';
export { builtInResources } from './kinds.ts';
export { startNamespaceController } from './namespace-controller.ts';
