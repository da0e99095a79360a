export { causeLine, type Refusal, refusalProblem } from '../world/refusal.ts';
export * from './cluster.ts';
export { clusterApiSchemaOf, type SchemaTable, type SchemaType, unservedKind } from './cluster-api-schemas.ts';
export { clusterClassRefusal } from './cluster-class.ts';
export { templateRefusal } from './immutable-templates.ts';
export { ownKindRefusal } from './own-kinds.ts';
export { isDefinedCheck, unchangeable } from './parts.ts';
export { stored } from './stored.ts';
export * from './writes.ts';
