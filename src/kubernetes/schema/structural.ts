import type { StatusCause } from '../objects/errors/status.ts';
import {
  canonical,
  copyOf,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  objectAt,
} from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';
import { forbiddenField, found, invalid, maxCauses, notSupported, required } from './causes.ts';
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
  const parts: ReturnType<typeof partsOf> = [];
  for (const [name, property] of Object.entries(objectAt(properties))) {
    if (isJsonObject(property)) {
      parts.push([property, `${path}.properties[${shownKey(name)}]`, 'object fields']);
    }
  }
  if (isJsonObject(additionalProperties)) {
    parts.push([additionalProperties, `${path}.additionalProperties`, 'object fields']);
  }
  return isJsonObject(items) ? [...parts, [items, `${path}.items`, 'array items']] : parts;
}

/** A schema and all parts in it, with their paths. */
export function* everyPart(schema: JsonObject, path: string): Generator<[JsonObject, string]> {
  yield [schema, path];
  for (const [part, at] of partsOf(schema, path)) {
    yield* everyPart(part, at);
  }
}

const branchesOf = (schema: JsonObject, path: string): [JsonObject, string][] =>
  junctors.flatMap((name): [JsonObject, string][] => {
    const { [name]: part } = schema;
    if (Array.isArray(part)) {
      return part.flatMap((item, index) => (isJsonObject(item) ? [[item, `${path}.${name}[${index}]`]] : []));
    }
    return isJsonObject(part) ? [[part, `${path}.${name}`]] : [];
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
  const value = schema.default ?? null;
  if (value !== null) {
    const hasUnknown = prune(copyOf(value), schema as Schema, false).length > 0;
    yield* found(hasUnknown && invalid(`${path}.default`, value, 'must not have unknown fields'));
    yield* validateSchema(value, schema as Schema, { base: `${path}.default`, work });
  }
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

const wrongType = ({ type }: JsonObject, path: string, why: string): StatusCause =>
  type ? invalid(`${path}.type`, type, why) : required(`${path}.type`, why);

const open = 'x-kubernetes-preserve-unknown-fields';
const embedded = 'x-kubernetes-embedded-resource';
const intOr = 'x-kubernetes-int-or-string';

/** The problems of int-or-string and of embedded resources (validation.go in apiextensions' pkg/apiserver/schema). */
function extensionCauses(schema: JsonObject, path: string): StatusCause[] {
  const { type, properties, additionalProperties } = schema;
  const exclusive = [open, embedded].filter((keyword) => schema[intOr] === true && schema[keyword] === true);
  const isEmbedded = schema[embedded] === true;
  const isMap = additionalProperties === true || isJsonObject(additionalProperties);
  const isEmpty = schema[open] !== true && Object.keys(objectAt(properties)).length === 0;
  return found(
    ...exclusive.map((name) => invalid(`${path}.${name}`, true, `must be false if ${intOr} is true`)),
    ...(isEmbedded ? resourceCauses(schema, path) : []),
    isEmbedded && type !== 'object' && wrongType(schema, path, `must be object if ${embedded} is true`),
    isEmbedded && isMap && forbiddenField(`${path}.additionalProperties`, `must not be used if ${embedded} is set`),
    isEmbedded && isEmpty && required(`${path}.properties`, `must not be empty if ${embedded} is true without ${open}`),
  );
}

const listType = 'x-kubernetes-list-type';
const mapType = 'x-kubernetes-map-type';
const mapKeys = 'x-kubernetes-list-map-keys';

/** The type of a schema with a keyword, and what that may say. */
const ofType: Readonly<Record<string, readonly [type: string, allowed: readonly Json[]]>> = {
  [listType]: ['array', ['atomic', 'set', 'map']],
  [mapType]: ['object', ['atomic', 'granular']],
};

const typeCauses = (schema: JsonObject, path: string): StatusCause[] =>
  Object.entries(ofType).flatMap(([keyword, [type, allowed]]) => {
    const { [keyword]: value } = schema;
    const isSet = value !== undefined;
    return found(
      isSet && schema.type !== type && wrongType(schema, path, `must be ${type} if ${keyword} is specified`),
      isSet && !allowed.includes(value) && notSupported(`${path}.${keyword}`, value, allowed as string[]),
    );
  });

/** Items of a set are compared as a whole. */
function setItemCauses(items: JsonObject, path: string): StatusCause[] {
  const why = `must be atomic as item of a list with ${listType}=set`;
  const { type, [listType]: ofList, [mapType]: ofMap } = items;
  return found(
    type === 'array' && (ofList ?? 'atomic') !== 'atomic' && invalid(`${path}.${listType}`, ofList, why),
    // An API server shows the type of the list, not of the map.
    type === 'object' && ofMap !== 'atomic' && invalid(`${path}.${mapType}`, ofList, why),
  );
}

function keyCauses(items: JsonObject, key: string, isRequired: boolean, path: string): StatusCause[] {
  const { type, default: preset, nullable } = objectAt(items, 'properties', key);
  const at = `${path}.properties[${shownKey(key)}]`;
  const isScalar = type !== 'array' && type !== 'object';
  const why = `this property is in ${mapKeys}, so it`;
  return found(
    // An API server shows the type of the items.
    !isScalar && invalid(`${at}.type`, items.type, `must be a scalar type if parent array's ${listType} is map`),
    !isRequired &&
      (preset ?? null) === null &&
      required(`${at}.default`, `${why} must have a default or be a required property`),
    nullable === true && forbiddenField(`${at}.nullable`, `${why} cannot be nullable`),
  );
}

/** The problems of the type of a list or map, and of the keys of a map (apiextensions, pkg/apis/apiextensions/validation). */
function* listCauses(schema: JsonObject, path: string): Generator<StatusCause> {
  const { items: given, [listType]: type, [mapKeys]: keysGiven } = schema;
  const items = objectAt(given);
  const keys = itemsAt(keysGiven);
  yield* typeCauses(schema, path);
  if (type === undefined && keys.length === 0) {
    return;
  }
  const [isSet, isMap, hasItems] = [type === 'set', type === 'map', isJsonObject(given)];
  const [at, field] = [`${path}.${mapKeys}`, `${path}.${listType}`];
  const isNullable = (isSet || isMap) && items.nullable === true;
  const noMap = `must be map if ${mapKeys} is non-empty`;
  const isOther = hasItems && items.type !== 'object';
  const otherType = `must be object if parent array's ${listType} is map`;
  yield* found(
    isNullable && forbiddenField(`${path}.items.nullable`, `cannot be nullable when ${listType} is ${type}`),
    ...(isSet ? setItemCauses(items, `${path}.items`) : []),
    !isMap && keys.length > 0 && (type === undefined ? required(field, noMap) : invalid(field, type, noMap)),
    isMap && keys.length === 0 && required(at, `must not be empty if ${listType} is map`),
    isMap && !hasItems && required(`${path}.items`, `must have a schema if ${listType} is map`),
    isMap && isOther && invalid(`${path}.items.type`, items.type ?? '', otherType),
  );
  if (!isMap || !hasItems || isOther) {
    return;
  }
  const fields = objectAt(items, 'properties');
  const names = new Set(keys);
  const requiredNames = new Set(itemsAt(items, 'required'));
  const known = [...names].filter((key) => typeof key === 'string' && Object.hasOwn(fields, key)) as string[];
  yield* found(
    // An API server repeats the message for each such key.
    known.length < names.size && invalid(at, keysGiven, 'entries must all be names of item properties'),
    names.size < keys.length && invalid(at, keysGiven, 'must not contain duplicate entries'),
  );
  for (const key of known) {
    yield* keyCauses(items, key, requiredNames.has(key), `${path}.items`);
  }
}

/** Checks of definitions, but not of merely structural schemas (apiextensions, pkg/apis/apiextensions/validation). */
function* definitionCauses(schema: JsonObject, path: string, work: Work): Generator<StatusCause> {
  const { type, uniqueItems, additionalProperties, properties } = schema;
  // Even `false` makes a map of an object with fields.
  const isMap = additionalProperties === false || isJsonObject(additionalProperties);
  const isBoth = isMap && Object.keys(objectAt(properties)).length > 0;
  const unique = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
  const both = 'additionalProperties and properties are mutual exclusive';
  yield* found(
    typeof type === 'string' && !['', ...types].includes(type) && notSupported(`${path}.type`, type, types),
    uniqueItems === true && forbiddenField(`${path}.uniqueItems`, unique),
    isBoth && forbiddenField(`${path}.additionalProperties`, both),
  );
  yield* defaultCauses(schema, path, work);
}

/** @param work for defaults of a definition; undefined for the schema of a variable, which is merely structural. */
function* nodeCauses(schema: JsonObject, path: string, place: string, work?: Work): Generator<StatusCause> {
  const isUntyped = !schema.type && ![open, embedded, intOr].some((keyword) => schema[keyword] === true);
  const forbidden = forbiddenKeywords.filter((keyword) => schema[keyword] !== undefined);
  const lacksItems = schema.type === 'array' && !isJsonObject(schema.items);
  yield* found(
    isUntyped && required(`${path}.type`, `must not be empty ${place}`),
    schema[open] === false && invalid(`${path}.${open}`, false, 'must be true or undefined'),
    ...forbidden.map((keyword) => forbiddenField(`${path}.${keyword}`, `${keyword} is not supported`)),
    lacksItems && required(`${path}.items`, 'must be specified'),
  );
  if (work !== undefined) {
    yield* definitionCauses(schema, path, work);
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

const resourceCauses = (schema: JsonObject, path: string): StatusCause[] =>
  Object.entries({ apiVersion: 'string', kind: 'string', metadata: 'object' }).flatMap(([name, type]) => {
    const field = objectAt(schema, 'properties')[name];
    const isOther = isJsonObject(field) && field.type !== type;
    return found(isOther && invalid(`${path}.properties[${name}].type`, field.type ?? '', `must be ${type}`));
  });

function* rootCauses(schema: JsonObject, path: string, work?: Work): Generator<StatusCause> {
  const isMap = schema.additionalProperties !== undefined;
  yield* found(isMap && forbiddenField(`${path}.additionalProperties`, 'must not be used at the root'));
  yield* nodeCauses(schema, path, 'at the root', work);
  yield* resourceCauses(schema, path);
  for (const [branch, at] of branchesOf(schema, path)) {
    yield* undefinedParts(branch, at, schema, path);
  }
  const fields = objectAt(schema, 'properties');
  for (const name of ['apiVersion', 'kind', 'metadata']) {
    for (const [part, at] of everyPart(objectAt(fields, name), `${path}.properties[${name}]`)) {
      const hasDefault = part.default !== undefined;
      yield* found(hasDefault && forbiddenField(`${at}.default`, `must not be set in top-level ${name}`));
    }
  }
  const { type: _type, default: _default, properties, ...others } = objectAt(fields, 'metadata');
  const names = Object.keys(objectAt(properties)).filter((name) => name !== 'name' && name !== 'generateName');
  const isRestricted = Object.keys(others).length + names.length > 0;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  yield* found(isRestricted && forbiddenField(`${path}.properties[metadata]`, why));
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
