import { Buffer, isUtf8 } from 'node:buffer';

/** A JSON value, as JSON.parse returns it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** Why a body could not be read as JSON. `message` may be shown to the client. */
export class JsonError extends Error {}

/** Maximum nesting of arrays and objects: no object that this program knows is deeper than 20. */
export const maxJsonDepth = 256;

/** Whether a value is a JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of fields and indices in a JSON value; undefined if the path does not exist. */
export function fieldAt(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let inner = value;
  for (const key of path) {
    if (Array.isArray(inner)) {
      inner = typeof key === 'number' ? inner[key] : undefined;
    } else {
      inner = isJsonObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
    }
  }
  return inner;
}

/** An object at a path, or an empty one. */
export function objectAt(value: Json | undefined, ...path: readonly (string | number)[]): JsonObject {
  const field = fieldAt(value, ...path);
  return isJsonObject(field) ? field : {};
}

/** A text at a path, or an empty one. */
export function textAt(value: Json | undefined, ...path: readonly (string | number)[]): string {
  const field = fieldAt(value, ...path);
  return typeof field === 'string' ? field : '';
}

/** The items of a list at a path; none if there is anything else. */
export function itemsAt(value: Json | undefined, ...path: readonly (string | number)[]): Json[] {
  const field = fieldAt(value, ...path);
  return Array.isArray(field) ? field : [];
}

/** The items of a list at a path that are objects. */
export function objectsAt(value: Json | undefined, ...path: readonly (string | number)[]): JsonObject[] {
  return itemsAt(value, ...path).filter(isJsonObject);
}

/** A string that is equal for equal JSON values, regardless of the order of their keys. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(',')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Whether a number is an integer of 32 bits, OpenAPI's format `int32`. */
export function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;
}

/** Whether all keys and strings of a map have more than `limit` bytes of UTF-8. */
export function hasMoreBytes(map: Readonly<Record<string, unknown>>, limit: number): boolean {
  let bytes = 0;
  for (const key in map) {
    const value = map[key];
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
    if (bytes > limit) {
      return true;
    }
  }
  return false;
}

/** The value of an object's own property, or undefined. */
export function own<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an object's own property; one named `__proto__` becomes an ordinary one, as in what JSON.parse returns. */
export function setOwn<T>(object: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** Whether an array or object nests at most `levels` deep. Loops are used since every review and call passes here. */
function nestsWithin(value: Json[] | JsonObject, levels: number): boolean {
  if (levels === 0) {
    return false;
  }
  // Most values contain no others: they are handled here, without a call for each.
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item = value[at];
      if (typeof item === 'object' && item !== null && !nestsWithin(item, levels - 1)) {
        return false;
      }
    }
    return true;
  }
  // A value from JSON.parse has only own enumerable properties.
  for (const key in value) {
    const item = value[key];
    if (typeof item === 'object' && item !== null && !nestsWithin(item, levels - 1)) {
      return false;
    }
  }
  return true;
}

/** Whether a value nests deeper than `maxJsonDepth`: recursion over it might exceed the stack. */
export function isTooDeep(value: Json): boolean {
  return typeof value === 'object' && value !== null && !nestsWithin(value, maxJsonDepth);
}

const tooDeep = `the JSON document nests deeper than ${maxJsonDepth} levels`;

/** Larger documents are checked before parsing, in bytes: one of a million brackets takes a second to parse. */
const mostBytesOfSmall = 512 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const [openingBracket, closingBracket] = [0x5b, 0x5d];
const [openingBrace, closingBrace] = [0x7b, 0x7d];

/** The index of the closing quote of a string, from a place within it; the length of the bytes or one more without one. */
function closingQuote(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== quote) {
    at += json[at] === backslash ? 2 : 1;
  }
  return at;
}

/** The index after the first bracket at which the nesting has a depth, in any text; undefined without one. */
function endOfBracket(json: Buffer, isWanted: (depth: number) => boolean): number | undefined {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1);
      continue;
    }
    const change =
      byte === openingBrace || byte === openingBracket ? 1 : byte === closingBrace || byte === closingBracket ? -1 : 0;
    depth += change;
    if (change !== 0 && isWanted(depth)) {
      return at + 1;
    }
  }
  return undefined;
}

/** Parses JSON in UTF-8; of duplicate keys the last counts, `__proto__` is an ordinary one. @throws {JsonError} also beyond `maxJsonDepth`. */
export function parseJson(bytes: Uint8Array): Json {
  // This native check costs a tenth of a TextDecoder.
  if (!isUtf8(bytes)) {
    throw new JsonError('the body is not valid UTF-8');
  }
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLarge = buffer.length > mostBytesOfSmall;
  if (isLarge && endOfBracket(buffer, (depth) => depth > maxJsonDepth) !== undefined) {
    throw new JsonError(tooDeep);
  }
  let value: Json;
  try {
    value = JSON.parse(buffer.toString('utf8')) as Json;
  } catch (error) {
    // V8 quotes part of the text in the message, and a body may contain secrets: only the position is kept.
    const position = /position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    throw new JsonError(`the body is not valid JSON${position === undefined ? '' : ` (at ${position})`}`);
  }
  if (!isLarge && isTooDeep(value)) {
    throw new JsonError(tooDeep);
  }
  return value;
}

/** The first JSON value of a body: Go's decoder ignores the rest. @throws {JsonError} as `parseJson`. */
export function parseFirstJson(bytes: Buffer): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const end = endOfBracket(bytes, (depth) => depth <= 0);
    if (end === undefined || end === bytes.length) {
      throw error;
    }
    return parseJson(bytes.subarray(0, end));
  }
}

const minus = 0x2d;
const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39;
const number = /-?\d*([.eE][\d.eE+-]*)?/y;

/**
 * A body that was read before, with 0.5 for each whole number with a fraction or an exponent, none of Go's integers; undefined without
 * one. In the bytes: a reviver of JSON.parse takes more than ten seconds and a GiB for 20 MiB of small values.
 */
export function withWholeFractionsShown(json: Buffer): Json | undefined {
  const text = json.toString('latin1');
  let shown: Buffer | undefined;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1);
    } else if (byte === minus || isDigit(byte)) {
      number.lastIndex = at;
      const [whole = '', fraction] = number.exec(text) ?? [];
      if (fraction !== undefined && Number.isInteger(Number(whole))) {
        shown ??= Buffer.from(json);
        // Such a number has at least three characters.
        shown.fill(' ', at, at + whole.length).write('0.5', at);
      }
      at += whole.length - 1;
    }
  }
  return shown && parseFirstJson(shown);
}

/** The string values of a map in metadata. */
export function textValues(value: Json | undefined): Record<string, string> {
  const entries = Object.entries(objectAt(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** A deep copy of a JSON value; several times faster than structuredClone, which checks for cycles and classes. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copied) as T;
  }
  if (isJsonObject(value)) {
    // Most fields are strings and numbers: the engine copies them all at once.
    const copy: JsonObject = { ...value };
    for (const name in copy) {
      const field = copy[name];
      if (typeof field === 'object' && field !== null) {
        setOwn(copy, name, copyOf(field));
      }
    }
    return copy as T;
  }
  return value;
}

/** Most fields are strings and numbers, for which a call costs more than the copy. */
const copied = (field: Json): Json => (typeof field === 'object' && field !== null ? copyOf(field) : field);

/** JSON text as Go's encoding/json writes it: with escapes for characters that HTML or JavaScript read otherwise. */
export const asGoWrites = (json: string): string =>
  json.replaceAll(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
