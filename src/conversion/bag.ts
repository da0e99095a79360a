import { isJsonObject, type Json, type JsonObject, parseJson } from '../kubernetes/index.ts';
import { ConversionError } from './error.ts';
import { joinPath } from './schema-path.ts';

/**
 * One step of a kept value's path: a property, the item of a list with certain values of its keys, or (in brackets) the
 * key of a map. A list's item has no index here: the list may have been reordered meanwhile.
 */
export type BagStep = string | JsonObject | [string];

/** A value that a version cannot say, and where it belongs. */
export interface KeptValue {
  path: BagStep[];
  value: Json;
}

/** What is kept, by the `apiVersion` that can say it. */
export type Bag = Map<string, KeptValue[]>;

/** Most bytes of a bag: what Kubernetes allows all annotations of an object together (256 KiB). */
export const maxBagBytes = 256 * 1024;

function isStep(step: Json): step is BagStep & Json {
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

/** Reads a bag. Undefined when the text is none: anybody can write an annotation. */
export function readBag(text: Json): Bag | undefined {
  if (typeof text !== 'string' || text.length > maxBagBytes) {
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
  const bag: Bag = new Map();
  for (const [version, entries] of Object.entries(value)) {
    if (!Array.isArray(entries) || !entries.every(isKeptValue)) {
      return undefined;
    }
    bag.set(version, entries.map(({ path, value: kept }) => ({ path, value: kept })) as KeptValue[]);
  }
  return bag;
}

/** The text of a bag that is not empty. */
export function writeBag(bag: Bag, annotation: string): string {
  const text = JSON.stringify(Object.fromEntries(bag));
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBagBytes) {
    throw new ConversionError(
      ['metadata', 'annotations', annotation],
      `would be ${bytes} bytes to keep what the other version cannot say; at most ${maxBagBytes} are possible`,
    );
  }
  return text;
}

/** The path of a kept value as the plan writes it: `status.handlers[].timeoutSeconds`. */
export function patternOf(path: readonly BagStep[]): string {
  return path.reduce<string>(
    (pattern, step) => joinPath(pattern, typeof step === 'string' ? step : Array.isArray(step) ? '{}' : '[]'),
    '',
  );
}

/** Identifies a list's item by its keys, and tells absent keys from others. */
export function keyOf(item: Json, keys: readonly string[]): JsonObject {
  const found = isJsonObject(item) ? item : {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(found, key)).map((key) => [key, found[key] as Json]));
}
