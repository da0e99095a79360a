import type { JsonObject } from '../../kubernetes/index.ts';

const none: ReadonlySet<never> = new Set();

/** Entries by a key that several items may share. Keys without entries take no memory. */
export class Index<Item, Entry = Item> {
  readonly #entriesOf: (item: Item) => readonly (readonly [key: string, entry: Entry])[];
  readonly #sets = new Map<string, Set<Entry>>();

  /** @param entriesOf returns the same entries whenever it is called for an item. */
  constructor(entriesOf: (item: Item) => readonly (readonly [key: string, entry: Entry])[]) {
    this.#entriesOf = entriesOf;
  }

  add(item: Item): void {
    for (const [key, entry] of this.#entriesOf(item)) {
      const set = this.#sets.get(key);
      if (set === undefined) {
        this.#sets.set(key, new Set([entry]));
      } else {
        set.add(entry);
      }
    }
  }

  remove(item: Item): void {
    for (const [key, entry] of this.#entriesOf(item)) {
      const set = this.#sets.get(key);
      if (set?.delete(entry) && set.size === 0) {
        this.#sets.delete(key);
      }
    }
  }

  /** The entries of a key, in the order in which they were added. */
  get(key: string): ReadonlySet<Entry> {
    return this.#sets.get(key) ?? none;
  }
}

/** The objects of one kind, reduced to what rules need and indexed. */
export class IndexedCollection<Item> {
  /** The part of an object that is kept, as JSON: all that `putReduced` needs. */
  readonly reduce: (key: string, object: JsonObject) => Item;
  readonly #indexes: readonly Pick<Index<Item>, 'add' | 'remove'>[];
  readonly #items = new Map<string, Item>();

  constructor(
    reduce: (key: string, object: JsonObject) => Item,
    indexes: readonly Pick<Index<Item>, 'add' | 'remove'>[] = [],
  ) {
    this.reduce = reduce;
    this.#indexes = indexes;
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: string): Item | undefined {
    return this.#items.get(key);
  }

  put(key: string, object: JsonObject): void {
    this.putReduced(key, this.reduce(key, object));
  }

  /** Adds what `reduce` made of an object, or replaces that of the one with the same key. */
  putReduced(key: string, item: Item): void {
    this.remove(key);
    this.#items.set(key, item);
    for (const index of this.#indexes) {
      index.add(item);
    }
  }

  remove(key: string): void {
    const item = this.#items.get(key);
    if (item !== undefined) {
      this.#items.delete(key);
      for (const index of this.#indexes) {
        index.remove(item);
      }
    }
  }

  clear(): void {
    for (const key of [...this.#items.keys()]) {
      this.remove(key);
    }
  }
}

export type FactCollection = IndexedCollection<unknown>;
