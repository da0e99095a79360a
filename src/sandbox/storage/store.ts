import { itemsAt, type JsonObject } from '../../kubernetes/index.ts';
import { internalError } from '../resources/errors.ts';

/** One write, as watches report it. `object` has the resource version of the write, even for a deletion. */
export interface StoreEvent {
  version: number;
  object: JsonObject;
  isDeleted: boolean;
  previous: JsonObject | undefined;
  /** Approximate size of `object` in bytes of JSON. */
  bytes: number;
}

const defaultLimits = {
  /** Number of writes per collection that are kept for watches from an older version. */
  history: 5_000,
  /** Maximum number of bytes of JSON in the history of one collection. */
  historyBytes: 64 * 1024 * 1024,
  /** Maximum number of bytes of JSON in the store; in memory they take several times as much. etcd also has a limit. */
  storedBytes: 256 * 1024 * 1024,
};

const bytesOf = (object: JsonObject) => JSON.stringify(object).length;

/** `NAMESPACE/NAME`, with an empty namespace for cluster-scoped objects. */
export function storageKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function withVersion(object: JsonObject, version: number): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: String(version) } };
}

/** Everything that is stored, in memory, with one version counter. Stored objects are only replaced, never modified. */
export class Store {
  version = 1;
  bytes = 0;
  readonly limits: typeof defaultLimits;
  readonly #collections = new Map<string, Collection>();

  constructor(limits: Partial<typeof defaultLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /** The collection of a name; created on first use, with a history that begins at that moment. */
  collection(name: string): Collection {
    let collection = this.#collections.get(name);
    if (collection === undefined) {
      collection = new Collection(this);
      this.#collections.set(name, collection);
    }
    return collection;
  }

  drop(name: string): void {
    this.#collections.delete(name);
  }
}

/** The objects of one resource, in all versions. */
class Collection {
  readonly #store: Store;
  readonly #objects = new Map<string, JsonObject>();
  readonly #listeners = new Set<(event: StoreEvent) => void>();
  #events: StoreEvent[] = [];
  /** The oldest version that a watch can begin from: events up to it were evicted, or are from before the collection existed. */
  oldest: number;
  #historyBytes = 0;
  readonly #sizes = new Map<string, number>();
  /** Cached result of `list`, until the next write. */
  #listed: [key: string, object: JsonObject][] | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.oldest = store.version;
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key);
  }

  /** Adds (without `stored`), replaces or deletes (without `next`); undefined if `stored` is outdated. @throws {RequestError} if full. */
  write(key: string, stored: JsonObject | undefined, next: JsonObject | undefined): JsonObject | undefined {
    if (this.#objects.get(key) !== stored) {
      return undefined;
    }
    const store = this.#store;
    const version = store.version + 1;
    const object = withVersion(next ?? stored ?? {}, version);
    const bytes = bytesOf(object);
    const change = (next === undefined ? 0 : bytes) - (this.#sizes.get(key) ?? 0);
    const { storedBytes } = store.limits;
    if (change > 0 && store.bytes + change > storedBytes) {
      throw internalError(`the sandbox stores at most ${storedBytes / 1024 / 1024} MiB; delete objects first`);
    }
    store.version = version;
    store.bytes += change;
    if (next === undefined) {
      this.#objects.delete(key);
      this.#sizes.delete(key);
    } else {
      this.#objects.set(key, object);
      this.#sizes.set(key, bytes);
    }
    this.#listed = undefined;
    const event: StoreEvent = { version, object, isDeleted: next === undefined, previous: stored, bytes };
    this.#events.push(event);
    this.#historyBytes += bytes;
    this.#forget();
    for (const listener of this.#listeners) {
      listener(event);
    }
    return object;
  }

  /** Deletes the objects without finalizers, and marks the others for deletion. @returns how many are left. */
  deleteAll(now: string, selects: (key: string) => boolean = () => true): number {
    let left = 0;
    for (const [key, object] of this.list().filter(([key]) => selects(key))) {
      const metadata = object.metadata as JsonObject;
      if (itemsAt(metadata, 'finalizers').length === 0) {
        this.write(key, object, undefined);
        continue;
      }
      left++;
      if (metadata.deletionTimestamp === undefined) {
        const marked = { ...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 0 };
        this.write(key, object, { ...object, metadata: marked });
      }
    }
    return left;
  }

  /** All objects, sorted by key. */
  list(): readonly (readonly [key: string, object: JsonObject])[] {
    this.#listed ??= [...this.#objects].sort(([a], [b]) => (a < b ? -1 : 1));
    return this.#listed;
  }

  /** The writes after a version, oldest first, or undefined if some of them have been evicted. */
  eventsAfter(version: number): StoreEvent[] | undefined {
    if (version < this.oldest) {
      return undefined;
    }
    let at = this.#events.length;
    while (at > 0 && (this.#events[at - 1] as StoreEvent).version > version) {
      at--;
    }
    return this.#events.slice(at);
  }

  /** Calls the listener with every later write, in order; one that is subscribed already only once. @returns a function that ends that. */
  subscribe(listener: (event: StoreEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Evicts old events, in large steps: removing one from the front of an array costs as much as removing many. */
  #forget(): void {
    const { history, historyBytes } = this.#store.limits;
    if (this.#events.length < history * 2 && this.#historyBytes <= historyBytes) {
      return;
    }
    let gone = 0;
    const isTooMuch = () => this.#events.length - gone > history || this.#historyBytes > historyBytes / 2;
    for (; isTooMuch() && gone < this.#events.length - 1; gone++) {
      const { bytes, version } = this.#events[gone] as StoreEvent;
      this.#historyBytes -= bytes;
      this.oldest = version;
    }
    this.#events.splice(0, gone);
  }
}

/** A function after whose calls something runs once, in the next turn or after a delay; not once the signal is aborted. */
export function soon(run: () => void, signal: AbortSignal, delayMs?: number): () => void {
  let isScheduled = false;
  function start(): void {
    isScheduled = false;
    if (!signal.aborted) {
      run();
    }
  }
  return () => {
    if (!isScheduled) {
      isScheduled = true;
      delayMs === undefined ? setImmediate(start) : setTimeout(start, delayMs).unref();
    }
  };
}
