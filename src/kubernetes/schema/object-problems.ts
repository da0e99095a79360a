import { type JsonObject, objectAt, objectsAt, textAt } from '../objects/json/json.ts';
import { copyOf } from '../objects/json/json-copy.ts';
import { applyDefaults } from './defaults.ts';
import { prune } from './pruning.ts';
import type { Schema } from './schema.ts';
import { validateSchema } from './schema-validation.ts';

/** The schema that a CustomResourceDefinition has for an object; undefined if none is for its kind and version. */
function schemaOf(object: JsonObject, crds: readonly JsonObject[]): Schema | undefined {
  const [group, version] = textAt(object, 'apiVersion').split('/');
  const crd = crds.find(
    ({ spec }) => textAt(spec, 'group') === group && textAt(spec, 'names', 'kind') === textAt(object, 'kind'),
  );
  const served = objectsAt(crd, 'spec', 'versions').find(({ name }) => name === version);
  return served && (objectAt(served, 'schema', 'openAPIV3Schema') as Schema);
}

/**
 * What an API server would refuse or drop of a custom resource: wrong types, nulls, missing fields and unknown ones.
 *
 * @param crds CustomResourceDefinitions.
 * @returns one text for each problem, with its field; undefined if no CustomResourceDefinition is for the object.
 */
export function objectProblems(object: JsonObject, crds: readonly JsonObject[]): string[] | undefined {
  const schema = schemaOf(object, crds);
  if (schema === undefined) {
    return undefined;
  }
  const whole = copyOf(object);
  applyDefaults(whole, schema);
  const causes = validateSchema(whole, schema).map(({ field, message }) => `${field}: ${message}`);
  return [...causes, ...prune(whole, schema).map((path) => `${path}: is not a field of a ${textAt(object, 'kind')}`)];
}
