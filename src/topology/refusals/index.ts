export { applyRefusal } from './apply-refusal.ts';
export {
  type ClusterFacts,
  clusterRefusal,
  defaultedCluster,
  upgradeConcurrency,
  versionChangeProblem,
} from './cluster.ts';
export { clusterApiSchemaOf, type SchemaTable, type SchemaType, unservedKind } from './cluster-api-schemas.ts';
export { clusterClassRefusal } from './cluster-class.ts';
export { templateRefusal } from './immutable-templates.ts';
export { ownKindRefusal } from './own-kinds.ts';
export { isDefinedCheck, unchangeable } from './parts.ts';
export { causeLine, invalidFields, type Refusal, refusalProblem } from './refusal.ts';
export { isWritten, type WriteAnswers, writeProblem } from './refused-writes.ts';
export { decodingRefusal, schemaRefusal } from './schema-refusal.ts';
export { stored } from './stored.ts';
