/** The items whose key an earlier item has, too. */
export function* repeated<T>(items: Iterable<T>, keyOf: (item: T) => unknown): Generator<T> {
  const keys = new Set<unknown>();
  for (const item of items) {
    const key = keyOf(item);
    if (keys.has(key)) {
      yield item;
    }
    keys.add(key);
  }
}
