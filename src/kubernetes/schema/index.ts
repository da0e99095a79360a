export * from './causes.ts';
export { applyDefaults, DefaultsError, hasDefaults } from './defaults.ts';
export { patchProblems, type SchemaOf, schemasOf } from './object-problems.ts';
export { compilePattern, type Pattern, PatternError } from './pattern.ts';
export { dropNulls, prune, removeUnknown, type UnknownField } from './pruning.ts';
export * from './schema.ts';
export { validateListTypes, validateSchema, type Work } from './schema-validation.ts';
export { everyPart, partsOf, structuralCauses } from './structural.ts';
