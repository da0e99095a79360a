export * from './catalog/catalog.ts';
export { coreGroup, hooksGroup } from './catalog/define-hooks.ts';
export * from './catalog/definition.ts';
export { clusterApiHooks, exclusiveHooks, generalChanges, type HookName, hooks } from './catalog/definitions.ts';
export * from './catalog/lifecycle.ts';
export type { MessageSchema } from './catalog/schema.ts';
export type { SchemaValue, TypedSchema } from './catalog/schema-value.ts';
export type * from './message-types/index.ts';
export { applyPatch, BadPatch, type EncodedPatch, isEmptyPatch } from './patches/apply.ts';
export {
  type ClassField,
  carriedFields,
  fieldsOf,
  machineFieldNames,
  machineFieldsOf,
  type PartKind,
  pathInObject,
  putAt,
  writtenInPlace,
} from './patches/class-fields.ts';
export { type ControlPlaneField, fieldsSetBy, revertIgnored, type TemplatePlace } from './patches/ignored.ts';
export { type MatchResources, matchesResources } from './patches/match-resources.ts';
export * from './upgrade-plans/kubernetes-version.ts';
export * from './upgrade-plans/plan-problem.ts';
