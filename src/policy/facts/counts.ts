/**
 * Counts how often each value was added for a key. Values and keys that were deleted as often as added take no memory.
 */
export class Counts {
  readonly #counts = new Map<string, Map<string, number>>();

  add(key: string, value: string): void {
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    counts.set(value, (counts.get(value) ?? 0) + 1);
    this.#counts.set(key, counts);
  }

  /** Reverts one `add`. */
  delete(key: string, value: string): void {
    const counts = this.#counts.get(key);
    const left = (counts?.get(value) ?? 0) - 1;
    if (left > 0) {
      counts?.set(value, left);
      return;
    }
    counts?.delete(value);
    if (counts?.size === 0) {
      this.#counts.delete(key);
    }
  }

  /** The values of a key, each once, in the order in which they were first added; undefined if there are none. */
  get(key: string): Iterable<string> | undefined {
    return this.#counts.get(key)?.keys();
  }
}
