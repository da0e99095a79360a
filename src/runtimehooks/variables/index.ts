export { type CheckedDefinitions, checkDefinitions, type UnevaluatedRules } from './definitions.ts';
export { readSchema } from './read-schema.ts';
export { rawText, valueCauses, withDefaults } from './values.ts';
