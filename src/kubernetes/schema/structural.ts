import type { StatusCause } from '../objects/errors/status.ts';
import { isJsonObject, type Json, type JsonObject, objectAt } from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';
import { forbiddenField, invalid, invalidForEach, maxCauses, required } from './causes.ts';
import { compilePattern, PatternError } from './pattern.ts';
import { prune } from './pruning.ts';
import { type Schema, shownKey } from './schema.ts';
import { validateSchema, type Work, workOfObject } from './schema-validation.ts';

const forbiddenKeywords = ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties'];
const outsideOnly = ['type', 'description', 'title', 'default', 'additionalProperties', 'nullable'];

const junctors = ['allOf', 'anyOf', 'oneOf', 'not'] as const;

/**
 * The schemas inside a schema that describe other values than it does itself, with their paths and what they describe.
 */
export function partsOf(schema: JsonObject, path: string): [JsonObject, string, 'object fields' | 'array items'][] {
  const parts: [JsonObject, string, 'object fields' | 'array items'][] = [];
  if (isJsonObject(schema.properties)) {
    for (const [name, property] of Object.entries(schema.properties)) {
      if (isJsonObject(property)) {
        parts.push([property, `${path}.properties[${shownKey(name)}]`, 'object fields']);
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

/** The alternatives in allOf, anyOf, oneOf and not, with their paths. */
function branchesOf(schema: JsonObject, path: string): [JsonObject, string][] {
  return junctors.flatMap((name): [JsonObject, string][] => {
    const part = schema[name];
    if (Array.isArray(part)) {
      return part.flatMap((item, index) => (isJsonObject(item) ? [[item, `${path}.${name}[${index}]`]] : []));
    }
    return isJsonObject(part) ? [[part, `${path}.${name}`]] : [];
  });
}

/** The parts of a schema, by their path within it. */
const partsByPath = perObject(
  (schema: JsonObject): ReadonlyMap<string, JsonObject> => new Map(partsOf(schema, '').map(([part, at]) => [at, part])),
);

/** The problems of a branch; `schema` is the schema around it, at `path`, for the same value. */
function* branchCauses(
  branch: JsonObject,
  at: string,
  schema: JsonObject | undefined,
  path: string,
): Generator<StatusCause> {
  const isIntOrString = schema?.['x-kubernetes-int-or-string'] === true;
  for (const keyword of outsideOnly) {
    if (branch[keyword] !== undefined && !(keyword === 'type' && isIntOrString)) {
      yield forbiddenField(`${at}.${keyword}`, 'must be empty to be structural');
    }
  }
  const outside = schema && partsByPath(schema);
  for (const [part, step] of partsOf(branch, '')) {
    const partAt = `${at}${step}`;
    const outsideAt = `${path}${step}`;
    if (!outside?.has(step)) {
      yield required(outsideAt, `because it is defined in ${partAt}`);
    }
    yield* branchCauses(part, partAt, outside?.get(step), outsideAt);
  }
  for (const [inner, innerAt] of branchesOf(branch, at)) {
    yield* branchCauses(inner, innerAt, schema, path);
  }
}

/** Maximum number of unknown fields of a default that are reported. */
const maxUnknown = 100;

function* defaultCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  if (schema.default === undefined) {
    return;
  }
  const field = `${path}.default`;
  yield* validateSchema(schema.default, schema as Schema, field, work);
  const unknown = prune(structuredClone(schema.default) as Json, schema as Schema, false);
  const details = unknown.slice(0, maxUnknown).map((name) => `must not have the unknown field ${JSON.stringify(name)}`);
  yield* invalidForEach(field, schema.default, details);
}

function additionalPropertiesProblem({ additionalProperties, properties }: JsonObject): string | undefined {
  if (additionalProperties === undefined) {
    return undefined;
  }
  if (additionalProperties === false) {
    return 'additionalProperties cannot be set to false';
  }
  if (additionalProperties !== true && !isJsonObject(additionalProperties)) {
    return 'must be a schema or true';
  }
  return isJsonObject(properties) ? 'additionalProperties and properties are mutual exclusive' : undefined;
}

/** Maximum number of instructions of all patterns in a definition's schema: compiling that many takes some seconds. */
const maxPatternSize = 300_000;

/** The problems of the patterns of a schema. The whole schema is searched, because `pattern` may be anywhere. */
function* patternCauses(schema: JsonObject, path: string, total: { size: number }): Generator<StatusCause> {
  const { pattern } = schema;
  if (typeof pattern === 'string' && pattern !== '' && total.size <= maxPatternSize) {
    const field = `${path}.pattern`;
    try {
      total.size += compilePattern(pattern).size + 10;
      if (total.size > maxPatternSize) {
        yield forbiddenField(field, 'together with this one, the patterns of the schema are too large');
      }
    } catch (error) {
      if (!(error instanceof PatternError)) {
        throw error;
      }
      yield invalid(field, pattern, `must be a valid regular expression, but isn't: ${error.message}`);
    }
  }
  for (const [part, at] of [...partsOf(schema, path), ...branchesOf(schema, path)]) {
    yield* patternCauses(part, at, total);
  }
}

/** The problems of int-or-string and of embedded resources (validation.go in apiextensions' pkg/apiserver/schema). */
function* extensionCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (schema['x-kubernetes-int-or-string'] === true) {
    const why = 'must be false if x-kubernetes-int-or-string is true';
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource']) {
      if (schema[name] === true) {
        yield invalid(`${path}.${name}`, true, why);
      }
    }
  }
  if (!isEmbedded) {
    return;
  }
  if (schema.type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    yield schema.type ? invalid(`${path}.type`, schema.type, why) : required(`${path}.type`, why);
  }
  if (schema.additionalProperties === true || isJsonObject(schema.additionalProperties)) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set';
    yield forbiddenField(`${path}.additionalProperties`, why);
  }
  if (!isOpen && Object.keys(isJsonObject(schema.properties) ? schema.properties : {}).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    yield required(`${path}.properties`, why);
  }
}

/** The problems of the keys of a list of type map (validation.go in apiextensions' pkg/apis/apiextensions/validation). */
function* listCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  const { items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': given } = schema;
  const keys = Array.isArray(given) ? given : [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  if (listType !== 'map') {
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const field = `${path}.x-kubernetes-list-type`;
    if (keys.length > 0) {
      yield listType === undefined ? required(field, why) : invalid(field, listType, why);
    }
    return;
  }
  if (keys.length === 0) {
    yield required(at, 'must not be empty if x-kubernetes-list-type is map');
  }
  if (!isJsonObject(items)) {
    yield required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map');
  } else if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map";
    yield invalid(`${path}.items.type`, items.type ?? '', why);
  } else {
    const fields = isJsonObject(items.properties) ? items.properties : {};
    // An API server repeats the message for each such key.
    if (keys.some((key) => typeof key !== 'string' || !Object.hasOwn(fields, key))) {
      yield invalid(at, given, 'entries must all be names of item properties');
    }
    if (new Set(keys).size < keys.length) {
      yield invalid(at, given, 'must not contain duplicate entries');
    }
  }
}

function* nodeCauses(schema: JsonObject, path: string, place: string, work: Work): Generator<StatusCause> {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (!schema.type && !isOpen && !isEmbedded && schema['x-kubernetes-int-or-string'] !== true) {
    yield required(`${path}.type`, `must not be empty ${place}`);
  }
  for (const keyword of forbiddenKeywords) {
    if (schema[keyword] !== undefined) {
      yield forbiddenField(`${path}.${keyword}`, 'is not supported');
    }
  }
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    yield forbiddenField(`${path}.uniqueItems`, why);
  }
  const problem = additionalPropertiesProblem(schema);
  if (problem !== undefined) {
    yield forbiddenField(`${path}.additionalProperties`, problem);
  }
  if (schema.type === 'array' && !isJsonObject(schema.items) && !isOpen) {
    yield required(`${path}.items`, 'must be specified');
  }
  yield* extensionCauses(schema, path);
  yield* listCauses(schema, path);
  yield* defaultCauses(schema, path, work);
  for (const [branch, at] of branchesOf(schema, path)) {
    yield* branchCauses(branch, at, schema, path);
  }
  for (const [part, at, kind] of partsOf(schema, path)) {
    yield* nodeCauses(part, at, `for specified ${kind}`, work);
  }
}

function* rootCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  yield* nodeCauses(schema, path, 'at the root', work);
  const metadata = isJsonObject(schema.properties) ? schema.properties.metadata : undefined;
  for (const name of Object.keys(objectAt(metadata, 'properties'))) {
    if (name !== 'name' && name !== 'generateName') {
      const why = 'must not be specified; only name and generateName may be restricted';
      yield forbiddenField(`${path}.properties[metadata].properties[${name}]`, why);
    }
  }
}

/** What the check of a schema may cost, or of several that share it. */
export interface SchemaBudget {
  work: Work;
  patterns: { size: number };
}

/** Whether a budget is used up; what it was for has a cause that says so. */
export const isSpent = ({ work, patterns }: SchemaBudget): boolean =>
  work.endedAt !== undefined || patterns.size > maxPatternSize;

export const schemaBudget = (): SchemaBudget => ({ work: workOfObject(), patterns: { size: 0 } });

/**
 * Why the schema of a version is not structural; empty if it is. Reports problems for which a cluster would reject the
 * schema or could not use it for pruning.
 *
 * @param path of the schema in the definition.
 * @see
 *   https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function structuralCauses(
  schema: JsonObject,
  path: string,
  { work, patterns }: SchemaBudget = schemaBudget(),
): StatusCause[] {
  // First, because defaults are validated with the schema.
  const unreadable = patternCauses(schema, path, patterns).take(maxCauses).toArray();
  return unreadable.length > 0 ? unreadable : rootCauses(schema, path, work).take(maxCauses).toArray();
}
