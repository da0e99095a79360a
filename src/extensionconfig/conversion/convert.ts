import {
  ConversionError,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  setOwn,
  showValue,
} from '../../kubernetes/index.ts';
import { openApiSchemaOf } from '../api/crd.ts';
import { apiVersionOf, kind, type Version, versionOf, versions } from '../api/names.ts';
import { conversionDataOf, type KeptStep, type KeptValue, withConversionData } from './conversion-data.ts';

// The versions differ in the status: each has the conditions of the other's contract in a field of its own, and v1beta2 has a
// minimum for the timeout of a handler.

const conditions = {
  v1alpha1: { v1beta1: ['conditions'], v1beta2: ['v1beta2', 'conditions'] },
  v1beta2: { v1beta1: ['deprecated', 'v1beta1', 'conditions'], v1beta2: ['conditions'] },
} as const satisfies Record<Version, Record<'v1beta1' | 'v1beta2', readonly string[]>>;

const ownField = { v1alpha1: 'v1beta2', v1beta2: 'deprecated' } as const satisfies Record<Version, string>;

const { minimum: minTimeoutSeconds = 0 } =
  openApiSchemaOf('v1beta2').properties?.status?.properties?.handlers?.items?.properties?.timeoutSeconds ?? {};

const isTooShort = (timeout: Json | undefined): timeout is number =>
  typeof timeout === 'number' && timeout < minTimeoutSeconds;

function timeoutPath({ name }: JsonObject): KeptStep[] {
  return ['status', 'handlers', name === undefined ? {} : { name }, 'timeoutSeconds'];
}

/** The object without the field at a path, and without objects that become empty by that; it has the field. */
function without(object: JsonObject, [name = '', ...path]: readonly string[]): JsonObject {
  const { [name]: field, ...others } = object;
  const rest = path.length === 0 ? {} : without(field as JsonObject, path);
  return Object.keys(rest).length === 0 ? others : { ...others, [name]: rest };
}

function merged(present: Json | undefined, more: Json): Json {
  if (present === undefined) {
    return more;
  }
  if (!isJsonObject(present) || !isJsonObject(more)) {
    return present;
  }
  const result = { ...present };
  for (const [key, value] of Object.entries(more)) {
    setOwn(result, key, merged(own(present, key), value));
  }
  return result;
}

/** The status with a value at a path. @throws {ConversionError} if it has another one there already. */
function moved(status: JsonObject, from: readonly string[], to: readonly string[], value: Json): JsonObject {
  const result = merged(
    status,
    to.reduceRight<Json>((inner, name) => ({ [name]: inner }), value),
  );
  if (fieldAt(result, ...to) !== value) {
    const place = `status.${to.join('.')}`;
    throw new ConversionError(['status', ...from], `becomes ${place}, where the object has another value already`);
  }
  return result as JsonObject;
}

function withoutShortTimeout(handler: Json, keptValues: KeptValue[]): Json {
  if (!isJsonObject(handler) || !isTooShort(handler.timeoutSeconds)) {
    return handler;
  }
  const { timeoutSeconds, ...rest } = handler;
  keptValues.push({ path: timeoutPath(handler), value: timeoutSeconds });
  return rest;
}

/** The status in another version. What that cannot represent is added to `keptValues`. */
function convertStatus(status: JsonObject, from: Version, to: Version, keptValues: KeptValue[]): JsonObject {
  let rest = status;
  const moves: [path: readonly string[], toPath: readonly string[], value: Json][] = [];
  for (const contract of ['v1beta1', 'v1beta2'] as const) {
    const path = conditions[from][contract];
    const value = fieldAt(rest, ...path);
    if (value !== undefined) {
      rest = without(rest, path);
      moves.push([path, conditions[to][contract], value]);
    }
  }
  const { [ownField[from]]: left, ...converted } = rest;
  if (left !== undefined) {
    keptValues.push({ path: ['status', ownField[from]], value: left });
  }
  if (to === 'v1beta2' && Array.isArray(converted.handlers)) {
    converted.handlers = converted.handlers.map((handler) => withoutShortTimeout(handler, keptValues));
  }
  return moves.reduce((object, [path, toPath, value]) => moved(object, path, toPath, value), converted);
}

/** Restores what the other version could not represent where it is missing; what no conversion would have kept is ignored. */
function restored(status: JsonObject, keptValues: readonly KeptValue[], version: Version): JsonObject {
  // In reverse, so that the first value of each path is taken first.
  const values = Map.groupBy(keptValues.toReversed(), ({ path }) => JSON.stringify(path));
  const take = (path: KeptStep[]) => values.get(JSON.stringify(path))?.pop()?.value;
  const left = take(['status', ownField[version]]);
  const result = left === undefined ? { ...status } : (merged(status, { [ownField[version]]: left }) as JsonObject);
  if (version === 'v1alpha1' && Array.isArray(result.handlers)) {
    result.handlers = result.handlers.map((handler) => {
      const timeout =
        isJsonObject(handler) && handler.timeoutSeconds === undefined ? take(timeoutPath(handler)) : undefined;
      return isTooShort(timeout) ? { ...(handler as JsonObject), timeoutSeconds: timeout } : handler;
    });
  }
  return result;
}

/**
 * An ExtensionConfig in another version, or the object itself if it has that version. What the other version cannot represent
 * becomes conversion data, and is restored on the way back. A value of the wrong type is copied.
 *
 * @throws {ConversionError} for another kind, an unknown version, a field whose place is taken, or too much conversion data.
 */
export function convert(object: JsonObject, apiVersion: string): JsonObject {
  if (object.kind !== kind) {
    throw new ConversionError(['kind'], `${showValue(object.kind)} is not ${kind}`);
  }
  const [from, to] = [versionOf(object.apiVersion), versionOf(apiVersion)];
  if (from === undefined || to === undefined) {
    const unknown = showValue(from === undefined ? object.apiVersion : apiVersion);
    throw new ConversionError(
      ['apiVersion'],
      `cannot convert ${unknown}; the versions of ${kind} are ${versions.map(apiVersionOf).join(', ')}`,
    );
  }
  if (from === to) {
    return object;
  }
  const data = conversionDataOf(object);
  const keptValues: KeptValue[] = [];
  const converted: JsonObject = { ...object, apiVersion: apiVersionOf(to) };
  if (isJsonObject(object.status)) {
    converted.status = restored(
      convertStatus(object.status, from, to, keptValues),
      data?.get(apiVersionOf(to)) ?? [],
      to,
    );
  }
  if (data === undefined && keptValues.length === 0) {
    return converted;
  }
  const updated = new Map(data);
  updated.delete(apiVersionOf(from));
  updated.delete(apiVersionOf(to));
  if (keptValues.length > 0) {
    updated.set(apiVersionOf(from), keptValues);
  }
  return withConversionData(converted, updated);
}
