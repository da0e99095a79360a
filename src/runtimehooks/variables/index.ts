export { type CheckedDefinitions, checkDefinitions, type UnevaluatedRules } from './definitions.ts';
export { rawText, readSchema, valueCauses, withDefaults } from './values.ts';
