import { isJsonObject, type Json, type JsonObject, type StatusCause } from '../kubernetes/index.ts';
import { prune, type Schema } from './schema.ts';
import { validateSchema } from './schema-validation.ts';

/** Keywords that OpenAPI has and structural schemas have not. */
const forbiddenKeywords = ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties'];
/** What may not stand within allOf, anyOf, oneOf and not: it belongs outside, once. */
const outsideOnly = ['type', 'description', 'title', 'default', 'additionalProperties', 'nullable'];

const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

function cause(reason: string, message: string, field: string): StatusCause {
  return { reason, message, field };
}

function forbidden(field: string, why: string): StatusCause {
  return cause('FieldValueForbidden', `Forbidden: ${why}`, field);
}

function required(field: string, why: string): StatusCause {
  return cause('FieldValueRequired', `Required value: ${why}`, field);
}

/** Schemas inside of a schema that describe other values than it does itself, with their paths. */
function partsOf(schema: JsonObject, path: string): [JsonObject, string, 'object fields' | 'array items'][] {
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

/** The part of a structural schema that describes the same values as a part of one of its junctors. */
function counterpart(schema: JsonObject, path: string, part: string): JsonObject | undefined {
  const suffix = part.slice(path.length);
  return partsOf(schema, path).find(([, at]) => at.slice(path.length) === suffix)?.[0];
}

function junctorCauses(schema: JsonObject, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const branches: [JsonObject, string][] = junctors.flatMap((name) =>
    (Array.isArray(schema[name]) ? schema[name] : [])
      .filter(isJsonObject)
      .map((branch, index): [JsonObject, string] => [branch, `${path}.${name}[${index}]`]),
  );
  if (isJsonObject(schema.not)) {
    branches.push([schema.not, `${path}.not`]);
  }
  for (const [branch, at] of branches) {
    causes.push(...branchCauses(branch, at, schema, path));
  }
  return causes;
}

/** What is wrong with a schema within a junctor; `schema` is what stands outside for the same value. */
function branchCauses(branch: JsonObject, at: string, schema: JsonObject | undefined, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const isIntOrString = schema?.['x-kubernetes-int-or-string'] === true;
  for (const keyword of outsideOnly) {
    if (branch[keyword] !== undefined && !(keyword === 'type' && isIntOrString)) {
      causes.push(forbidden(`${at}.${keyword}`, 'must be empty to be structural'));
    }
  }
  for (const [part, partAt] of partsOf(branch, at)) {
    const outside = schema === undefined ? undefined : counterpart(schema, path, `${path}${partAt.slice(at.length)}`);
    if (outside === undefined) {
      causes.push(required(`${path}${partAt.slice(at.length)}`, `because it is defined in ${partAt}`));
    }
    causes.push(...branchCauses(part, partAt, outside, `${path}${partAt.slice(at.length)}`));
  }
  for (const name of [...junctors, 'not'] as const) {
    const inner = branch[name];
    const list = Array.isArray(inner) ? inner : [inner];
    for (const [index, item] of list.entries()) {
      if (isJsonObject(item)) {
        causes.push(
          ...branchCauses(item, Array.isArray(inner) ? `${at}.${name}[${index}]` : `${at}.${name}`, schema, path),
        );
      }
    }
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
  causes.push(...defaultCauses(schema, path), ...junctorCauses(schema, path));
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
