export { type ApiService, apiServiceStorage } from './api-service.ts';
export { conditionsOf, isConditionTrue, withCondition } from './conditions.ts';
export { definitionStorage, startDefinitionController } from './definition-controller.ts';
export { startEventController } from './event-controller.ts';
export { builtInResources } from './kinds.ts';
export { startNamespaceController } from './namespace-controller.ts';
