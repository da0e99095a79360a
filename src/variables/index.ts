export { checkDefinitions } from './definitions.ts';
export { readSchema } from './read-schema.ts';
export { valueCauses, withDefaults } from './values.ts';
