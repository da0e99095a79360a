import { isJsonObject, type Json, type JsonObject, type StatusCause } from '../kubernetes/index.ts';
import { prune, type Schema } from './schema.ts';
import { validateSchema } from './schema-validation.ts';

/** Keywords that OpenAPI has and structural schemas have not. */
const forbiddenKeywords = ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties'];
/** What may not stand within allOf, anyOf, oneOf and not: it belongs outside, once. */
const outsideOnly = ['type', 'description', 'title', 'default', 'additionalProperties', 'nullable'];

const junctors = ['allOf', 'anyOf', 'oneOf', 'not'] as const;

function cause(reason: string, message: string, field: string): StatusCause {
  return { reason, message, field };
}

function forbidden(field: string, why: string): StatusCause {
  return cause('FieldValueForbidden', `Forbidden: ${why}`, field);
}

function required(field: string, why: string): StatusCause {
  return cause('FieldValueRequired', `Required value: ${why}`, field);
}

/** Schemas inside of a schema that describe other values than it does itself, with their paths and what they describe. */
export function partsOf(schema: JsonObject, path: string): [JsonObject, string, 'object fields' | 'array items'][] {
  const parts: [JsonObject, string, 'object fields' | 'array items'][] = [];
  if (isJsonObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isJsonObject(property)) {
        parts.push([property, `${path}.properties[${name}]`, 'object fields']);
      }
    }
  }
  if (isJsonObject(schema.additionalProperties)) {
    parts.push([schema.additionalProperties, `${path}.additionalProperties`, 'object fields']);
  }
  if (isJsonObject(schema.items)) {
    parts.push([schema.items, `${path}.items`, 'array items']);
  }
  return parts;
}

/** The alternatives within allOf, anyOf, oneOf and not, with their paths. */
function branchesOf(schema: JsonObject, path: string): [JsonObject, string][] {
  return junctors.flatMap((name): [JsonObject, string][] => {
    const given = schema[name];
    if (Array.isArray(given)) {
      return given.flatMap((item, index) => (isJsonObject(item) ? [[item, `${path}.${name}[${index}]`]] : []));
    }
    return isJsonObject(given) ? [[given, `${path}.${name}`]] : [];
  });
}

/** What is wrong with a branch; `schema` is what stands outside of it, at `path`, for the same value. */
function branchCauses(branch: JsonObject, at: string, schema: JsonObject | undefined, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const isIntOrString = schema?.['x-kubernetes-int-or-string'] === true;
  for (const keyword of outsideOnly) {
    if (branch[keyword] !== undefined && !(keyword === 'type' && isIntOrString)) {
      causes.push(forbidden(`${at}.${keyword}`, 'must be empty to be structural'));
    }
  }
  const outside = new Map(partsOf(schema ?? {}, path).map(([part, partAt]) => [partAt, part]));
  for (const [part, partAt] of partsOf(branch, at)) {
    const outsideAt = `${path}${partAt.slice(at.length)}`;
    if (!outside.has(outsideAt)) {
      causes.push(required(outsideAt, `because it is defined in ${partAt}`));
    }
    causes.push(...branchCauses(part, partAt, outside.get(outsideAt), outsideAt));
  }
  for (const [inner, innerAt] of branchesOf(branch, at)) {
    causes.push(...branchCauses(inner, innerAt, schema, path));
  }
  return causes;
}

function defaultCauses(schema: JsonObject, path: string): StatusCause[] {
  if (schema.default === undefined) {
    return [];
  }
  const field = `${path}.default`;
  const copy = structuredClone(schema.default) as Json;
  const unknown = prune(copy, schema as Schema, false);
  return [
    ...validateSchema(schema.default, schema as Schema, field),
    ...unknown.map((name) =>
      cause(
        'FieldValueInvalid',
        `Invalid value: ${JSON.stringify(schema.default)}: must not have the unknown field ${JSON.stringify(name)}`,
        field,
      ),
    ),
  ];
}

function nodeCauses(schema: JsonObject, path: string, place: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (!schema.type && !isOpen && schema['x-kubernetes-int-or-string'] !== true) {
    causes.push(required(`${path}.type`, `must not be empty ${place}`));
  }
  for (const keyword of forbiddenKeywords) {
    if (schema[keyword] !== undefined) {
      causes.push(forbidden(`${path}.${keyword}`, 'is not supported'));
    }
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbidden(`${path}.uniqueItems`, why));
  }
  if (schema.additionalProperties === false) {
    causes.push(forbidden(`${path}.additionalProperties`, 'additionalProperties cannot be set to false'));
  } else if (
    schema.additionalProperties !== undefined &&
    schema.additionalProperties !== true &&
    !isJsonObject(schema.additionalProperties)
  ) {
    causes.push(forbidden(`${path}.additionalProperties`, 'must be a schema or true'));
  } else if (schema.additionalProperties !== undefined && isJsonObject(schema.properties)) {
    const why = 'additionalProperties and properties are mutual exclusive';
    causes.push(forbidden(`${path}.additionalProperties`, why));
  }
  if (schema.type === 'array' && !isJsonObject(schema.items) && !isOpen) {
    causes.push(required(`${path}.items`, 'must be specified'));
  }
  causes.push(...defaultCauses(schema, path));
  for (const [branch, at] of branchesOf(schema, path)) {
    causes.push(...branchCauses(branch, at, schema, path));
  }
  for (const [part, at, kind] of partsOf(schema, path)) {
    causes.push(...nodeCauses(part, at, `for specified ${kind}`));
  }
  return causes;
}

/**
 * Why the schema of a version is not structural, empty when it is: what a cluster would refuse, or could not prune by.
 *
 * @param path of the schema in the definition.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralCauses(schema: JsonObject, path: string): StatusCause[] {
  const causes = nodeCauses(schema, path, 'at the root');
  const metadata = isJsonObject(schema.properties) ? schema.properties.metadata : undefined;
  if (isJsonObject(metadata) && isJsonObject(metadata.properties)) {
    const others = Object.keys(metadata.properties).filter((name) => name !== 'name' && name !== 'generateName');
    const at = `${path}.properties[metadata]`;
    causes.push(
      ...others.map((name) =>
        forbidden(`${at}.properties[${name}]`, 'must not be specified; only name and generateName may be restricted'),
      ),
    );
  }
  return causes;
}
