export { canonical } from './canonical.ts';
export { causeOf, duplicate, forbiddenField, invalid, maxCauses, notSupported, required } from './causes.ts';
export { applyDefaults, DefaultsError, hasDefaults } from './defaults.ts';
export { dropNulls, prune } from './pruning.ts';
export { fieldOf, joinPath, propertyOf, type Schema } from './schema.ts';
export { validateSchema } from './schema-validation.ts';
export { partsOf, structuralCauses } from './structural.ts';
