import type { JsonObject } from '../../kubernetes/index.ts';

/** The objects of one kind, reduced to what rules need and indexed. */
export interface FactCollection {
  /** Adds an object, or replaces the one with the same key. */
  put(key: string, object: JsonObject): void;
  remove(key: string): void;
  readonly size: number;
  keys(): Iterable<string>;
}

/** Which parts of a kind's objects are kept, and the indexes over them. */
interface Indexing<Item> {
  /** The part of an object to keep; undefined if none is needed. */
  reduce(key: string, object: JsonObject): Item | undefined;
  /** Adds an item to the indexes. */
  add(item: Item): void;
  /** Removes an item from the indexes. */
  remove(item: Item): void;
}

/** A collection that also has the items by key. */
export class IndexedCollection<Item> implements FactCollection {
  readonly #items = new Map<string, Item>();
  readonly #indexing: Indexing<Item>;

  constructor(indexing: Indexing<Item>) {
    this.#indexing = indexing;
  }

  get size(): number {
    return this.#items.size;
  }

  keys(): Iterable<string> {
    return this.#items.keys();
  }

  get(key: string): Item | undefined {
    return this.#items.get(key);
  }

  put(key: string, object: JsonObject): void {
    this.remove(key);
    const item = this.#indexing.reduce(key, object);
    if (item !== undefined) {
      this.#items.set(key, item);
      this.#indexing.add(item);
    }
  }

  remove(key: string): void {
    const item = this.#items.get(key);
    if (item !== undefined) {
      this.#items.delete(key);
      this.#indexing.remove(item);
    }
  }
}
