export { type Condition, conditionOf, type ExtensionConfigStatus, withConditions } from './conditions.ts';
export { discoveredStatus, pausedAnnotation, type RunFinding } from './discovered-status.ts';
export { type ConfigEvent, createEventRecorder, type EventRecorder } from './events.ts';
export { createOwnWrites } from './own-writes.ts';
export {
  ConfigConflict,
  ConfigGone,
  type ConfigStore,
  collectionPath,
  createConfigStore,
  readStored,
  type StoredConfig,
} from './stored.ts';
