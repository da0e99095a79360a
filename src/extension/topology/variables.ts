import type { Variable } from '../../hooks/index.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';
import { HandlerFailure } from '../handler.ts';
import { getField, segmentsOf, step } from '../json-path.ts';

/** Reads variables by paths such as `builtin.cluster.topology.version` or `disks[0].size`. */
export interface Variables {
  /** The value at a path; undefined when it is absent. */
  get(path: string): Json | undefined;
  has(path: string): boolean;
  /**
   * The value at a path, of the type that the method names; `fallback` when it is absent.
   *
   * @throws {HandlerFailure} when it has another type, or is absent and there is no fallback. Users read the message,
   *   which says so.
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

/** Variables of one list by name. Of several with the same name the last one counts, as for Cluster API. */
export type VariableLayer = ReadonlyMap<string, Json>;

export function layerOf(variables: readonly Variable[] = []): VariableLayer {
  return new Map(variables.map(({ name, value }) => [name, value as Json]));
}

/**
 * Variables by name. Later layers (those of an item) take precedence over earlier ones (those of the whole request);
 * `builtin` is merged field by field.
 */
export function mergeVariables(...layers: readonly (readonly Variable[] | undefined)[]): JsonObject {
  return mergedLayers(layers.map(layerOf));
}

function mergedLayers(layers: readonly VariableLayer[]): JsonObject {
  const merged = new Map<string, Json>();
  for (const layer of layers) {
    for (const [name, value] of layer) {
      merged.set(name, name === 'builtin' ? mergedDeep(merged.get(name), value) : value);
    }
  }
  return Object.fromEntries(merged);
}

/** A value in the lower layer and one in the upper layer, which together are the value of a variable. */
type Found = readonly [below: Json | undefined, above: Json | undefined];

const notFound: Found = [undefined, undefined];

const valueAt = ([below, above]: Found): Json | undefined => (above === undefined ? below : mergedDeep(below, above));

function findInLayers(below: VariableLayer, above: VariableLayer, path: string): Found {
  const [name, ...rest] = segmentsOf(path);
  if (typeof name !== 'string') {
    return notFound;
  }
  const isMerged = name === 'builtin' || !above.has(name);
  let found: Found = [isMerged ? below.get(name) : undefined, above.get(name)];
  for (const segment of rest) {
    const [lower, upper] = found;
    // Fields of the lower value are visible only where both values are objects.
    const isHidden = upper !== undefined && !(isJsonObject(lower) && isJsonObject(upper));
    found = [isHidden ? undefined : step(lower, segment), step(upper, segment)];
  }
  return found;
}

/**
 * Access to the variables of a request below those of one of its items. Only values that are read are merged: there may be
 * many variables in a request, and many items.
 */
export function layeredVariables(below: VariableLayer, above: VariableLayer): Variables {
  let values: JsonObject | undefined;
  return variablesFrom(
    (path) => findInLayers(below, above, path),
    () => {
      values ??= mergedLayers([below, above]);
      return values;
    },
  );
}

/** Access to variables by path and type. */
export function variablesOf(values: JsonObject): Variables {
  return variablesFrom(
    (path) => [getField(values, path), undefined],
    () => values,
  );
}

function variablesFrom(find: (path: string) => Found, allValues: () => JsonObject): Variables {
  function typed<T extends Json>(kind: string, is: (value: Json) => boolean) {
    return (path: string, fallback?: T): T => {
      const value = valueAt(find(path));
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
    get values() {
      return allValues();
    },
    get: (path) => valueAt(find(path)),
    has: (path) => find(path).some((value) => value !== undefined),
    string: typed<string>('a string', (value) => typeof value === 'string'),
    number: typed<number>('a number', (value) => typeof value === 'number'),
    boolean: typed<boolean>('true or false', (value) => typeof value === 'boolean'),
    object: typed<JsonObject>('an object', isJsonObject),
    list: typed<Json[]>('a list', Array.isArray),
  };
}
