const none: ReadonlySet<never> = new Set();

/** A map from a key to a set of items. Keys without items take no memory. */
export class Multimap<Item> {
  readonly #sets = new Map<string, Set<Item>>();

  add(key: string, item: Item): void {
    const set = this.#sets.get(key);
    if (set === undefined) {
      this.#sets.set(key, new Set([item]));
    } else {
      set.add(item);
    }
  }

  delete(key: string, item: Item): void {
    const set = this.#sets.get(key);
    if (set?.delete(item) && set.size === 0) {
      this.#sets.delete(key);
    }
  }

  /** The items of a key, in the order in which they were added. */
  get(key: string): ReadonlySet<Item> {
    return this.#sets.get(key) ?? none;
  }
}
