/** A map of what was used lately; what is heavier than the maximum weight is not kept at all. */
export class LruCache<Value> {
  readonly #maxWeight: number;
  readonly #weightOf: (key: string, value: Value) => number;
  readonly #values = new Map<string, Value>();
  /** What was used last: finding a long key again takes a comparison, not its hash. */
  #newest: { key: string; value: Value } | undefined;
  #weight = 0;

  /** @param weightOf by default every value weighs 1, so that the maximum is their number. */
  constructor(maxWeight: number, weightOf: (key: string, value: Value) => number = () => 1) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: string): Value | undefined {
    if (this.#newest?.key === key) {
      return this.#newest.value;
    }
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
      this.#newest = { key, value };
    }
    return value;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#newest = undefined;
    const weight = this.#weightOf(key, value);
    if (weight > this.#maxWeight) {
      return;
    }
    this.#values.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#maxWeight) {
        return;
      }
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#newest = undefined;
      this.#values.delete(key);
      this.#weight -= this.#weightOf(key, value);
    }
  }
}
