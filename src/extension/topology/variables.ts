import type { Variable } from '../../hooks/index.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';
import { HandlerFailure } from '../handler.ts';
import { getField } from '../json-path.ts';

/** Reads variables by paths such as `builtin.cluster.topology.version` or `disks[0].size`. */
export interface Variables {
  /** The value at a path; undefined when it is absent. */
  get(path: string): Json | undefined;
  has(path: string): boolean;
  /**
   * The value at a path, of the type that the method names; `fallback` when it is absent.
   * @throws {HandlerFailure} when it has another type, or is absent and there is no fallback. Users read the message,
   * which says so.
   */
  string(path: string, fallback?: string): string;
  number(path: string, fallback?: number): number;
  boolean(path: string, fallback?: boolean): boolean;
  object(path: string, fallback?: JsonObject): JsonObject;
  list(path: string, fallback?: Json[]): Json[];
  /** All variables, by their names. */
  readonly values: Readonly<JsonObject>;
}

/** Merges the second object into the first, field by field; unknown fields are kept. */
function mergedDeep(below: Json | undefined, above: Json): Json {
  if (!isJsonObject(below) || !isJsonObject(above)) {
    return above;
  }
  const merged: JsonObject = { ...below };
  for (const [name, field] of Object.entries(above)) {
    setOwn(merged, name, mergedDeep(Object.hasOwn(below, name) ? below[name] : undefined, field));
  }
  return merged;
}

/**
 * Variables by name. Later layers (those of an item) take precedence over earlier ones (those of the whole request);
 * `builtin` is merged field by field.
 */
export function mergeVariables(...layers: readonly (readonly Variable[] | undefined)[]): JsonObject {
  const merged = new Map<string, Json>();
  for (const { name, value } of layers.flatMap((layer) => layer ?? [])) {
    merged.set(name, name === 'builtin' ? mergedDeep(merged.get(name), value as Json) : (value as Json));
  }
  return Object.fromEntries(merged);
}

/** Access to variables by path and type. */
export function variablesOf(values: JsonObject): Variables {
  function typed<T extends Json>(kind: string, is: (value: Json) => boolean) {
    return (path: string, fallback?: T): T => {
      const value = getField(values, path);
      if (value === undefined) {
        if (fallback === undefined) {
          throw new HandlerFailure(`variable ${path} is not set`);
        }
        return fallback;
      }
      if (!is(value)) {
        throw new HandlerFailure(`variable ${path} is not ${kind}`);
      }
      return value as T;
    };
  }
  return {
    values,
    get: (path) => getField(values, path),
    has: (path) => getField(values, path) !== undefined,
    string: typed<string>('a string', (value) => typeof value === 'string'),
    number: typed<number>('a number', (value) => typeof value === 'number'),
    boolean: typed<boolean>('true or false', (value) => typeof value === 'boolean'),
    object: typed<JsonObject>('an object', isJsonObject),
    list: typed<Json[]>('a list', Array.isArray),
  };
}
