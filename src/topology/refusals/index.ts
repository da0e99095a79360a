export { applyRefusal } from './apply-refusal.ts';
export { clusterApiSchemaOf } from './cluster-api-schemas.ts';
export { invalidFields, type Refusal } from './refusal.ts';
export { type RefusedWrite, refusedWrites } from './refused-writes.ts';
export { decodingRefusal, schemaRefusal } from './schema-refusal.ts';
export type { FieldType, SchemaTable } from './schema-table.ts';
export { stored } from './stored.ts';
