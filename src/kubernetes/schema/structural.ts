import type { StatusCause } from '../objects/errors/status.ts';
import { canonical, copyOf, isJsonObject, itemsAt, type JsonObject, objectAt } from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';
import { forbiddenField, invalid, maxCauses, notSupported, required } from './causes.ts';
import { compilePattern, PatternError } from './pattern.ts';
import { prune } from './pruning.ts';
import { type Schema, shownKey } from './schema.ts';
import { validateSchema, type Work, workOfObject } from './schema-validation.ts';

const forbiddenKeywords = ['$ref', 'additionalItems', 'definitions', 'dependencies', 'id', 'patternProperties'];

/** What the alternatives of a schema may not say, by what it must be instead. */
const outsideOnly = {
  empty: ['type', 'title', 'description', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'],
  undefined: ['additionalProperties', 'default', 'x-kubernetes-list-type', 'x-kubernetes-map-type'],
  false: [
    ...['nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'],
    'x-kubernetes-int-or-string',
  ],
};
const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const junctors = ['allOf', 'anyOf', 'oneOf', 'not'] as const;

/** The schemas inside a schema that describe other values than itself, with their paths and what they describe. */
export function partsOf(schema: JsonObject, path: string): [JsonObject, string, 'object fields' | 'array items'][] {
  const { properties, additionalProperties, items } = schema;
  const fields = Object.entries(objectAt(properties)).map(
    ([name, property]) => [property, `${path}.properties[${shownKey(name)}]`, 'object fields'] as const,
  );
  const others = [additionalProperties, `${path}.additionalProperties`, 'object fields'] as const;
  const parts = [...fields, others, [items, `${path}.items`, 'array items'] as const];
  return parts.flatMap(([part, at, kind]) => (isJsonObject(part) ? [[part, at, kind]] : []));
}

export function* everyPart(schema: JsonObject, path: string): Generator<[JsonObject, string]> {
  yield [schema, path];
  for (const [part, at] of partsOf(schema, path)) {
    yield* everyPart(part, at);
  }
}

const branchesOf = (schema: JsonObject, path: string): [JsonObject, string][] =>
  junctors.flatMap((name) => {
    const { [name]: part } = schema;
    const items = Array.isArray(part)
      ? part.map((item, index) => [item, `[${index}]`] as const)
      : [[part, ''] as const];
    return items.flatMap(([item, end]): [JsonObject, string][] =>
      isJsonObject(item) ? [[item, `${path}.${name}${end}`]] : [],
    );
  });

const intOrString = canonical([{ type: 'integer' }, { type: 'string' }]);

/** The alternatives of a schema but for the two of an int-or-string, in `anyOf` or the first of `allOf`. */
function checkedBranches(schema: JsonObject, path: string): [JsonObject, string][] {
  const { anyOf } = schema;
  const isIntOrString = Array.isArray(anyOf) && anyOf.length === 2 && canonical(anyOf) === intOrString;
  const branches = branchesOf(schema, path);
  return isIntOrString ? branches.filter(([, at]) => !at.startsWith(`${path}.anyOf[`)) : branches;
}

function* branchCauses(branch: JsonObject, at: string, isFirstOfAll: boolean): Generator<StatusCause> {
  for (const [wanted, keywords] of Object.entries(outsideOnly)) {
    for (const keyword of keywords) {
      const value = branch[keyword];
      const isEmpty = Array.isArray(value) ? value.length === 0 : !value && wanted !== 'undefined';
      if (value !== undefined && !isEmpty) {
        yield forbiddenField(`${at}.${keyword}`, `must be ${wanted} to be structural`);
      }
    }
  }
  if (isJsonObject(branch.properties) && branch.properties.metadata !== undefined) {
    yield forbiddenField(`${at}.properties[metadata]`, 'must not be specified in a nested context');
  }
  for (const [part, partAt] of partsOf(branch, at)) {
    yield* branchCauses(part, partAt, false);
  }
  for (const [inner, innerAt] of isFirstOfAll ? checkedBranches(branch, at) : branchesOf(branch, at)) {
    yield* branchCauses(inner, innerAt, false);
  }
}

const partsByPath = perObject(
  (schema: JsonObject): ReadonlyMap<string, JsonObject> => new Map(partsOf(schema, '').map(([part, at]) => [at, part])),
);

/** Parts that an alternative of a schema, which is at `path`, describes and the schema itself does not. */
function* undefinedParts(branch: JsonObject, at: string, schema: JsonObject, path: string): Generator<StatusCause> {
  for (const [part, step] of partsOf(branch, '')) {
    const outside = partsByPath(schema).get(step);
    if (outside === undefined) {
      yield required(`${path}${step}`, `because it is defined in ${at}${step}`);
    } else {
      yield* undefinedParts(part, `${at}${step}`, outside, `${path}${step}`);
    }
  }
  for (const [inner, innerAt] of branchesOf(branch, at)) {
    yield* undefinedParts(inner, innerAt, schema, path);
  }
}

function* defaultCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  const value = schema.default;
  if (value === undefined || value === null) {
    return;
  }
  if (prune(copyOf(value), schema as Schema, false).length > 0) {
    yield invalid(`${path}.default`, value, 'must not have unknown fields');
  }
  yield* validateSchema(value, schema as Schema, { base: `${path}.default`, work });
}

/** The work of compiling one instruction of a pattern. */
const workPerInstruction = 33;

/** The problems of the patterns of a schema. The whole schema is searched, because `pattern` may be anywhere. */
function* patternCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  const { pattern } = schema;
  if (typeof pattern === 'string' && pattern !== '' && work.left >= 0) {
    const field = `${path}.pattern`;
    try {
      work.left -= (compilePattern(pattern).size + 10) * workPerInstruction;
      if (work.left < 0) {
        work.endedAt = field;
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
    yield* patternCauses(part, at, work);
  }
}

function wrongType({ type }: JsonObject, path: string, why: string): StatusCause {
  return type ? invalid(`${path}.type`, type, why) : required(`${path}.type`, why);
}

/** The problems of int-or-string and of embedded resources (validation.go in apiextensions' pkg/apiserver/schema). */
function* extensionCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  const exclusive = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'];
  for (const name of exclusive.filter((keyword) => isIntOrString && schema[keyword] === true)) {
    yield invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true');
  }
  if (schema['x-kubernetes-embedded-resource'] !== true) {
    return;
  }
  yield* resourceCauses(schema, path);
  if (schema.type !== 'object') {
    yield wrongType(schema, path, 'must be object if x-kubernetes-embedded-resource is true');
  }
  if (schema.additionalProperties === true || isJsonObject(schema.additionalProperties)) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set';
    yield forbiddenField(`${path}.additionalProperties`, why);
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (!isOpen && Object.keys(objectAt(schema, 'properties')).length === 0) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    yield required(`${path}.properties`, why);
  }
}

const ofType = [
  ['x-kubernetes-list-type', 'array', ['atomic', 'set', 'map']],
  ['x-kubernetes-map-type', 'object', ['atomic', 'granular']],
] as const;

function* typeCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  for (const [keyword, type, allowed] of ofType) {
    const { [keyword]: value } = schema;
    if (value !== undefined && schema.type !== type) {
      yield wrongType(schema, path, `must be ${type} if ${keyword} is specified`);
    }
    if (value !== undefined && !allowed.some((one) => one === value)) {
      yield notSupported(`${path}.${keyword}`, value, allowed);
    }
  }
}

/** Items of a set are compared as a whole. */
function* setItemCauses(items: JsonObject, path: string): Generator<StatusCause> {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const { type, 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': mapType } = items;
  if (type === 'array' && listType !== undefined && listType !== 'atomic') {
    yield invalid(`${path}.x-kubernetes-list-type`, listType, why);
  }
  if (type === 'object' && mapType !== 'atomic') {
    // An API server shows the type of the list, not of the map.
    yield invalid(`${path}.x-kubernetes-map-type`, listType, why);
  }
}

function* keyCauses(items: JsonObject, key: string, isRequired: boolean, path: string): Generator<StatusCause> {
  const property = objectAt(items, 'properties', key);
  const at = `${path}.properties[${shownKey(key)}]`;
  if (property.type === 'array' || property.type === 'object') {
    // An API server shows the type of the items.
    const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
    yield invalid(`${at}.type`, items.type, why);
  }
  if (!isRequired && (property.default ?? null) === null) {
    const why = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
    yield required(`${at}.default`, why);
  }
  if (property.nullable === true) {
    yield forbiddenField(`${at}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable');
  }
}

/** The problems of the type of a list or map, and of the keys of a map (apiextensions, pkg/apis/apiextensions/validation). */
function* listCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  const { items, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': given } = schema;
  const keys = Array.isArray(given) ? given : [];
  yield* typeCauses(schema, path);
  if (isJsonObject(items) && items.nullable === true && (listType === 'set' || listType === 'map')) {
    yield forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  }
  if (listType === 'set' && isJsonObject(items)) {
    yield* setItemCauses(items, `${path}.items`);
  }
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
    const fields = objectAt(items, 'properties');
    const names = new Set(keys);
    const requiredNames = new Set(itemsAt(items, 'required'));
    // An API server repeats the message for each such key.
    if (keys.some((key) => typeof key !== 'string' || !Object.hasOwn(fields, key))) {
      yield invalid(at, given, 'entries must all be names of item properties');
    }
    if (names.size < keys.length) {
      yield invalid(at, given, 'must not contain duplicate entries');
    }
    for (const key of names) {
      if (typeof key === 'string' && Object.hasOwn(fields, key)) {
        yield* keyCauses(items, key, requiredNames.has(key), `${path}.items`);
      }
    }
  }
}

/** Checks of definitions, but not of merely structural schemas (apiextensions, pkg/apis/apiextensions/validation). */
function* definitionCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  const { type, uniqueItems, additionalProperties } = schema;
  if (typeof type === 'string' && type !== '' && !types.includes(type)) {
    yield notSupported(`${path}.type`, type, types);
  }
  if (uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    yield forbiddenField(`${path}.uniqueItems`, why);
  }
  // Even `false` makes a map of an object with fields.
  const isMap = additionalProperties === false || isJsonObject(additionalProperties);
  if (isMap && Object.keys(objectAt(schema, 'properties')).length > 0) {
    yield forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive');
  }
  yield* defaultCauses(schema, path, work);
}

/** @param work for defaults of a definition; undefined for the schema of a variable, which is merely structural. */
function* nodeCauses(schema: JsonObject, path: string, place: string, work?: Work): Generator<StatusCause> {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  if (!schema.type && !isOpen && !isEmbedded && schema['x-kubernetes-int-or-string'] !== true) {
    yield required(`${path}.type`, `must not be empty ${place}`);
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    yield invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined');
  }
  for (const keyword of forbiddenKeywords) {
    if (schema[keyword] !== undefined) {
      yield forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`);
    }
  }
  if (work !== undefined) {
    yield* definitionCauses(schema, path, work);
  }
  if (schema.type === 'array' && !isJsonObject(schema.items)) {
    yield required(`${path}.items`, 'must be specified');
  }
  yield* extensionCauses(schema, path);
  yield* listCauses(schema, path);
  for (const [branch, at] of checkedBranches(schema, path)) {
    yield* branchCauses(branch, at, at === `${path}.allOf[0]`);
  }
  for (const [part, at, kind] of partsOf(schema, path)) {
    yield* nodeCauses(part, at, `for specified ${kind}`, work);
  }
}

function* resourceCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  for (const [name, type] of Object.entries({ apiVersion: 'string', kind: 'string', metadata: 'object' })) {
    const field = objectAt(schema, 'properties')[name];
    if (isJsonObject(field) && field.type !== type) {
      yield invalid(`${path}.properties[${name}].type`, field.type ?? '', `must be ${type}`);
    }
  }
}

function* rootCauses(schema: JsonObject, path: string, work?: Work): Generator<StatusCause> {
  if (schema.additionalProperties !== undefined) {
    yield forbiddenField(`${path}.additionalProperties`, 'must not be used at the root');
  }
  yield* nodeCauses(schema, path, 'at the root', work);
  yield* resourceCauses(schema, path);
  for (const [branch, at] of branchesOf(schema, path)) {
    yield* undefinedParts(branch, at, schema, path);
  }
  const fields = objectAt(schema, 'properties');
  for (const name of ['apiVersion', 'kind', 'metadata']) {
    for (const [part, at] of everyPart(objectAt(fields, name), `${path}.properties[${name}]`)) {
      if (part.default !== undefined) {
        yield forbiddenField(`${at}.default`, `must not be set in top-level ${name}`);
      }
    }
  }
  const { type: _type, default: _default, properties, ...others } = objectAt(fields, 'metadata');
  const names = Object.keys(objectAt(properties));
  if (Object.keys(others).length > 0 || names.some((name) => name !== 'name' && name !== 'generateName')) {
    const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    yield forbiddenField(`${path}.properties[metadata]`, why);
  }
}

/**
 * Why the schema at `path` of a definition is not structural (apiextensions.k8s.io/v1); empty if it is.
 *
 * @param isVariable whether it is that of a variable of Cluster API, wrapped in one of an object: such a schema may have
 *   what is forbidden in definitions for other reasons, and its defaults are looked at once it is structural.
 */
export function structuralCauses(
  schema: JsonObject,
  path: string,
  work = workOfObject(),
  isVariable = false,
): StatusCause[] {
  // First, because defaults are validated with the schema.
  const unreadable = patternCauses(schema, path, work).take(maxCauses).toArray();
  const found = unreadable.length > 0 ? unreadable : rootCauses(schema, path, isVariable ? undefined : work);
  const causes = Iterator.from(found).take(maxCauses).toArray();
  return isVariable && causes.length === 0
    ? [...everyPart(schema, path)].flatMap(([part, at]) => [...defaultCauses(part, at, work)]).slice(0, maxCauses)
    : causes;
}
