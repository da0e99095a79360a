import {
  ConversionError,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  parseJson,
} from '../../kubernetes/index.ts';
import { joinPath } from './schema-path.ts';

/**
 * One step in the path of a kept value: a property, a list item identified by the values of its keys, or (in brackets)
 * the key of a map. List items are not identified by index, since the list may have been reordered in the meantime.
 */
export type KeptStep = string | JsonObject | [string];

/** A value that a version cannot represent, and where it belongs. */
export interface KeptValue {
  path: KeptStep[];
  value: Json;
}

/** The kept values, by the `apiVersion` that can represent them. */
export type ConversionData = Map<string, KeptValue[]>;

/**
 * Maximum number of bytes of conversion data (256 KiB): the limit of Kubernetes for all annotations of an object
 * together.
 */
export const maxConversionDataBytes = 256 * 1024;

/** Maximum number of versions in conversion data: an API has a few, and each costs as much as an object. */
const maxVersions = 16;

function isStep(step: Json): step is KeptStep & Json {
  return (
    typeof step === 'string' ||
    isJsonObject(step) ||
    (Array.isArray(step) && step.length === 1 && typeof step[0] === 'string')
  );
}

function isKeptValue(entry: Json): entry is Json & KeptValue {
  return (
    isJsonObject(entry) &&
    Array.isArray(entry.path) &&
    entry.path.length > 0 &&
    entry.path.every(isStep) &&
    Object.hasOwn(entry, 'value')
  );
}

/**
 * Parses the conversion data in an annotation. Undefined if it is malformed, since users can write any text there, and
 * if it has more than `maxConversionDataBytes` UTF-16 units or `maxVersions` versions.
 */
export function parseConversionData(text: Json): ConversionData | undefined {
  if (typeof text !== 'string' || text.length > maxConversionDataBytes) {
    return undefined;
  }
  let value: Json;
  try {
    value = parseJson(Buffer.from(text));
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) {
    return undefined;
  }
  const versions = Object.keys(value);
  if (versions.length > maxVersions) {
    return undefined;
  }
  const data: ConversionData = new Map();
  for (const version of versions) {
    const entries = value[version];
    if (!Array.isArray(entries) || !entries.every(isKeptValue)) {
      return undefined;
    }
    data.set(version, entries.map(({ path, value: kept }) => ({ path, value: kept })) as KeptValue[]);
  }
  return data;
}

/**
 * The annotation text of conversion data that is not empty.
 *
 * @throws {ConversionError} when it is longer than `maxConversionDataBytes` in UTF-8.
 */
export function formatConversionData(data: ConversionData, annotation: string): string {
  const text = JSON.stringify(Object.fromEntries(data));
  const bytes = Buffer.byteLength(text);
  if (bytes > maxConversionDataBytes) {
    throw new ConversionError(
      ['metadata', 'annotations', annotation],
      `would need ${bytes} bytes to keep what the other version cannot represent; the maximum is ${maxConversionDataBytes}`,
    );
  }
  return text;
}

/** The path of a kept value in the notation of plans: `status.handlers[].timeoutSeconds`. */
export function patternOf(path: readonly KeptStep[]): string {
  return path.reduce<string>(
    (pattern, step) => joinPath(pattern, typeof step === 'string' ? step : Array.isArray(step) ? '{}' : '[]'),
    '',
  );
}

/** The keys that identify a list item, without those it lacks. */
export function listItemKey(item: Json, keys: readonly string[]): JsonObject {
  const found = objectAt(item);
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(found, key)).map((key) => [key, found[key] as Json]));
}
