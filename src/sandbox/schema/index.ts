export { modelNameOf, objectMetaSchema, schemaOfModel } from './built-in-schemas.ts';
export { causeOf, duplicate, forbiddenField, invalid, maxCauses, notSupported, required } from './causes.ts';
export {
  applyDefaults,
  canonical,
  copyOf,
  DefaultsError,
  dropNulls,
  fieldOf,
  hasDefaults,
  joinPath,
  propertyOf,
  prune,
  type Schema,
  sameJson,
} from './schema.ts';
export { validateSchema } from './schema-validation.ts';
export { partsOf, structuralCauses } from './structural.ts';
