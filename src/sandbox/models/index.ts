export { modelNameOf, objectMetaSchema, schemaOfModel } from './built-in-schemas.ts';
