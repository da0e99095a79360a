import type { JsonObject } from '../kubernetes/index.ts';

/** One write, as watchers see it. `object` carries the resource version of the write, also when it is a deletion. */
export interface StoreEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  version: number;
  key: string;
  object: JsonObject;
  /** What was stored before; undefined for ADDED. */
  previous: JsonObject | undefined;
}

/** Writes per collection that are kept for watches from an older version and for lists that continue. */
export const defaultHistory = 5_000;

/** `NAMESPACE/NAME`, with an empty namespace for cluster-scoped objects. */
export function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function withVersion(object: JsonObject, version: number): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(version) } };
}

/**
 * Everything that is stored, in memory, in collections that share one count of versions. Stored objects are never
 * changed, only replaced: whoever holds one holds what was stored at its version.
 */
export class Store {
  #version = 1;
  readonly #history: number;
  readonly #collections = new Map<string, Collection>();

  constructor(history = defaultHistory) {
    this.#history = history;
  }

  /** The version of the last write. */
  get version(): number {
    return this.#version;
  }

  /** The collection of a name; made when it is first asked for, with a history that begins now. */
  collection(name: string): Collection {
    let found = this.#collections.get(name);
    if (found === undefined) {
      found = new Collection(() => ++this.#version, this.#version, this.#history);
      this.#collections.set(name, found);
    }
    return found;
  }

  /** Forgets an empty collection and its history. */
  drop(name: string): void {
    this.#collections.delete(name);
  }
}

/** The objects of one resource, whatever version they are read in. */
export class Collection {
  readonly #nextVersion: () => number;
  readonly #history: number;
  readonly #objects = new Map<string, JsonObject>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  #events: StoreEvent[] = [];
  /** Events up to this version are no longer (or were never) kept. */
  #forgotten: number;
  #sortedKeys: string[] | undefined;

  constructor(nextVersion: () => number, version: number, history: number) {
    this.#nextVersion = nextVersion;
    this.#forgotten = version;
    this.#history = history;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The oldest version that a watch can begin from. */
  get oldest(): number {
    return this.#forgotten;
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key);
  }

  /** Stores a new object. @returns it with its version, or undefined when the key is taken. */
  create(key: string, object: JsonObject): JsonObject | undefined {
    if (this.#objects.has(key)) {
      return undefined;
    }
    return this.#record('ADDED', key, object, undefined);
  }

  /** Replaces an object. @returns it with its version, or undefined when `expected` is not what is stored (any more). */
  replace(key: string, expected: JsonObject, object: JsonObject): JsonObject | undefined {
    return this.#objects.get(key) === expected ? this.#record('MODIFIED', key, object, expected) : undefined;
  }

  /** Deletes an object. @returns its last state with the deletion's version, or undefined as `replace`. */
  delete(key: string, expected: JsonObject): JsonObject | undefined {
    return this.#objects.get(key) === expected ? this.#record('DELETED', key, expected, expected) : undefined;
  }

  /** All objects in the order of their keys. */
  list(): [key: string, object: JsonObject][] {
    this.#sortedKeys ??= [...this.#objects.keys()].sort();
    return this.#sortedKeys.map((key) => [key, this.#objects.get(key) as JsonObject]);
  }

  /** All objects as they were at a version, or undefined when the history does not reach back to it. */
  listAt(version: number): [key: string, object: JsonObject][] | undefined {
    const later = this.eventsAfter(version);
    if (later === undefined) {
      return undefined;
    }
    if (later.length === 0) {
      return this.list();
    }
    const objects = new Map(this.#objects);
    for (const { key, previous } of later.toReversed()) {
      if (previous === undefined) {
        objects.delete(key);
      } else {
        objects.set(key, previous);
      }
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** The writes after a version, oldest first, or undefined when some of them are no longer kept. */
  eventsAfter(version: number): StoreEvent[] | undefined {
    if (version < this.#forgotten) {
      return undefined;
    }
    let at = this.#events.length;
    while (at > 0 && (this.#events[at - 1] as StoreEvent).version > version) {
      at--;
    }
    return this.#events.slice(at);
  }

  /** Calls the listener with every write from now on, in order. @returns a function that ends it. */
  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #record(type: StoreEvent['type'], key: string, object: JsonObject, previous: JsonObject | undefined): JsonObject {
    const version = this.#nextVersion();
    const stored = withVersion(object, version);
    if (type === 'DELETED') {
      this.#objects.delete(key);
    } else {
      this.#objects.set(key, stored);
    }
    if (type !== 'MODIFIED') {
      this.#sortedKeys = undefined;
    }
    const event: StoreEvent = { type, version, key, object: stored, previous };
    this.#events.push(event);
    // In large steps: removing one from the front of an array costs as much as removing many.
    if (this.#events.length >= this.#history * 2) {
      const gone = this.#events.splice(0, this.#events.length - this.#history);
      this.#forgotten = (gone.at(-1) as StoreEvent).version;
    }
    for (const listener of this.#listeners) {
      listener(event);
    }
    return stored;
  }
}
