import { type Bytes, textOf } from '../../base/go-text/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { valueOfJson } from './functions/index.ts';
import { Dict, List, type Value } from './values/values.ts';
import type { Variables } from './variables.ts';

/** A map that tells of the values that somebody takes out of it by its keys, or by iterating over its entries. */
class WatchedMap extends Map<Bytes, Value> {
  readonly #onRead: (value: Value) => void;

  constructor(entries: Iterable<readonly [Bytes, Value]>, onRead: (value: Value) => void) {
    super(entries);
    this.#onRead = onRead;
  }

  override get(key: Bytes): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) {
      this.#onRead(value);
    }
    return value;
  }

  override *[Symbol.iterator](): MapIterator<[Bytes, Value]> {
    for (const entry of super[Symbol.iterator]()) {
      this.#onRead(entry[1]);
      yield entry;
    }
    return undefined;
  }
}

/** A copy of a value that tells of each text in it that is taken out of a map, or of a list that is. */
function watchedValue(value: Value, onRead: (text: Bytes) => void): Value {
  if (!(value instanceof Dict)) {
    return value;
  }
  const tell = (read: Value): void => {
    if (typeof read === 'string') {
      onRead(read);
    } else if (read instanceof List) {
      read.items.forEach(tell);
    }
  };
  const entries = [...value.entries].map(([key, entry]) => [key, watchedValue(entry, onRead)] as const);
  return new Dict(new WatchedMap(entries, tell), value.element, value.isNil);
}

const watching = new WeakMap<Variables, (text: string) => void>();

/** Tells from now on of the texts in `builtin` that templates read, perhaps without need of them. */
export function watchReads(variables: Variables, onRead: (text: string) => void): void {
  watching.set(variables, onRead);
}

/** Variables as templates read them: watched, if they are to be. */
export function watchedData(variables: Variables): Dict {
  const data = valueOfJson(variables) as Dict;
  const onRead = watching.get(variables);
  const builtin = data.entries.get('builtin');
  if (onRead !== undefined && builtin !== undefined) {
    const watched = watchedValue(builtin, (text) => onRead(textOf(text)));
    data.entries.set('builtin', watched);
  }
  return data;
}

/** An inline patch that read the name of its Cluster at a template. */
export interface NameReading {
  variables: JsonObject;
  object: JsonObject;
  /** The fields that the patch may set there, as JSON pointers. */
  paths: readonly string[];
  outcomeWith: (variables: JsonObject) => string;
}

/** What inline patches read of the words in `builtin` that are a Cluster's own: its name, and what contains it or is its uid. */
export class OwnWordReads {
  readonly #name: string;
  readonly #uid: string;
  readonly #now = { name: false, other: false };
  /** Patches whose result depends on the name. */
  readonly readings: NameReading[] = [];
  /** Whether something was read that only the plan of the Cluster itself has. */
  hasMore = false;

  constructor(name: string, uid: string) {
    this.#name = name;
    this.#uid = uid;
  }

  #note(text: string): void {
    if (text === this.#name) {
      this.#now.name = true;
    } else if (text.includes(this.#name) || (text !== '' && text === this.#uid)) {
      this.#now.other = true;
    }
  }

  /** The same variables; from now on it is noted what templates read of them. */
  watched(variables: JsonObject): JsonObject {
    watchReads(variables, (text) => this.#note(text));
    return variables;
  }

  /** Notes the words in the value of a variable that is taken as it is. */
  noteValue(value: Json): void {
    if (typeof value === 'string') {
      this.#note(value);
    } else if (Array.isArray(value) || isJsonObject(value)) {
      for (const part of Object.values(value)) {
        this.noteValue(part);
      }
    }
  }

  endPatch(reading: NameReading): void {
    if (this.#now.name) {
      this.readings.push(reading);
    }
    this.hasMore ||= this.#now.other;
    Object.assign(this.#now, { name: false, other: false });
  }
}
