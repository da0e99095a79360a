import { isJsonObject, type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import type { Variable } from '../../../runtimehooks/index.ts';
import { HandlerFailure } from '../handlers/handler.ts';
import { segmentsOf, step } from '../objects/json-path.ts';

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

/**
 * Maximum number of fields that the merges for all templates of a request may copy, which takes two seconds: a thousand
 * variables for five thousand templates.
 */
const maxMerged = 5_000_000;

/** How many more fields the merges for a request may copy. */
interface MergeWork {
  left: number;
}

/** The work of a request at its beginning. */
export const mergeWork = (): MergeWork => ({ left: maxMerged });

function charge(work: MergeWork, fields: number): void {
  work.left -= fields;
  if (work.left < 0) {
    throw new HandlerFailure(
      `the variables of this request, merged for each of its templates, have more than ${maxMerged} fields: the handler must read single variables, not all of them, and builtin only where it needs it`,
    );
  }
}

/** Merges the second object into the first, field by field; unknown fields are kept. */
function mergedDeep(below: Json | undefined, above: Json, work: MergeWork): Json {
  if (!isJsonObject(below) || !isJsonObject(above)) {
    return above;
  }
  const merged: JsonObject = {};
  let count = 0;
  for (const name in below) {
    setOwn(merged, name, below[name] as Json);
    count++;
  }
  charge(work, count);
  for (const [name, field] of Object.entries(above)) {
    setOwn(merged, name, mergedDeep(Object.hasOwn(below, name) ? below[name] : undefined, field, work));
  }
  return merged;
}

/** Variables of one list by name. Of several with the same name the last one counts, as for Cluster API. */
export type VariableLayer = ReadonlyMap<string, Json>;

export function layerOf(variables: readonly Variable[] = []): VariableLayer {
  return new Map(variables.map(({ name, value }) => [name, value as Json]));
}

function mergedLayers(layers: readonly VariableLayer[], work: MergeWork): JsonObject {
  const merged = new Map<string, Json>();
  for (const layer of layers) {
    charge(work, layer.size);
    for (const [name, value] of layer) {
      merged.set(name, name === 'builtin' ? mergedDeep(merged.get(name), value, work) : value);
    }
  }
  return Object.fromEntries(merged);
}

/** Access to the variables of a request below those of one of its items. They are merged when they are read. */
export function layeredVariables(below: VariableLayer, above: VariableLayer, work = mergeWork()): Variables {
  let builtin: Json | undefined;
  let values: JsonObject | undefined;
  return new ReadVariables(
    (name) => {
      const ofItem = above.get(name);
      if (ofItem === undefined) {
        return below.get(name);
      }
      if (name !== 'builtin') {
        return ofItem;
      }
      builtin ??= mergedDeep(below.get(name), ofItem, work);
      return builtin;
    },
    () => {
      values ??= mergedLayers([below, above], work);
      return values;
    },
  );
}

/**
 * Access to variables by path and type, such as those of a ValidateTopology request:
 * `variablesOf(request.variables, item.variables)`. Those of an item take precedence; `builtin` is merged field by field.
 */
export function variablesOf(variables: readonly Variable[] | undefined, ofItem?: readonly Variable[]): Variables {
  return layeredVariables(layerOf(variables), layerOf(ofItem));
}

/** Reads values of one type; `kind` describes it in messages. */
function typed<T extends Json>(get: Variables['get'], kind: string, is: (value: Json) => boolean) {
  return (path: string, fallback?: T): T => {
    const value = get(path);
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

const isString = (value: Json) => typeof value === 'string';
const isNumber = (value: Json) => typeof value === 'number';
const isBoolean = (value: Json) => typeof value === 'boolean';

/** Variables by path. The functions work without the object, too: patchers may take out those that they need. */
class ReadVariables implements Variables {
  readonly get: Variables['get'];
  readonly has: Variables['has'];
  readonly string: Variables['string'];
  readonly number: Variables['number'];
  readonly boolean: Variables['boolean'];
  readonly object: Variables['object'];
  readonly list: Variables['list'];
  readonly #allValues: () => JsonObject;

  constructor(read: (name: string) => Json | undefined, allValues: () => JsonObject) {
    const get = (path: string) => {
      const [name, ...rest] = segmentsOf(path);
      return typeof name === 'string' ? rest.reduce(step, read(name)) : undefined;
    };
    this.get = get;
    this.has = (path) => get(path) !== undefined;
    this.string = typed<string>(get, 'a string', isString);
    this.number = typed<number>(get, 'a number', isNumber);
    this.boolean = typed<boolean>(get, 'true or false', isBoolean);
    this.object = typed<JsonObject>(get, 'an object', isJsonObject);
    this.list = typed<Json[]>(get, 'a list', Array.isArray);
    this.#allValues = allValues;
  }

  get values(): JsonObject {
    return this.#allValues();
  }
}
