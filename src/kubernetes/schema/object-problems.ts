import { copyOf, type JsonObject, objectAt, objectsAt, textAt } from '../objects/json/json.ts';
import { applyDefaults } from './defaults.ts';
import { prune } from './pruning.ts';
import type { Schema } from './schema.ts';
import { validateSchema } from './schema-validation.ts';

/** Finds the schema of an object; undefined if it is not known. */
export type SchemaOf = (object: JsonObject) => Schema | undefined;

/** The schemas that CustomResourceDefinitions have for objects of their kinds and versions. */
export function schemasOf(crds: Iterable<JsonObject>): SchemaOf {
  const schemas = new Map<string, Schema>();
  for (const { spec } of crds) {
    for (const version of objectsAt(spec, 'versions')) {
      const schema = objectAt(version, 'schema', 'openAPIV3Schema');
      if (Object.keys(schema).length > 0) {
        const apiVersion = `${textAt(spec, 'group')}/${textAt(version, 'name')}`;
        schemas.set(`${apiVersion} ${textAt(spec, 'names', 'kind')}`, schema as Schema);
      }
    }
  }
  return (object) => schemas.get(`${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`);
}

function objectProblems(object: JsonObject, schema: Schema): string[] {
  const whole = copyOf(object);
  applyDefaults(whole, schema);
  const causes = validateSchema(whole, schema).map(({ field, message }) => `${field}: ${message}`);
  return [...causes, ...prune(whole, schema).map((path) => `${path}: is not a field of a ${textAt(object, 'kind')}`)];
}

/** What an API server would refuse or drop of a custom resource since it was patched: a text for each problem, with its field. */
export function patchProblems(before: JsonObject, after: JsonObject, schemaOf: SchemaOf): string[] {
  const schema = schemaOf(after);
  if (schema === undefined) {
    return [];
  }
  const known = new Set(objectProblems(before, schema));
  return objectProblems(after, schema)
    .filter((problem) => !known.has(problem))
    .slice(0, 20);
}
