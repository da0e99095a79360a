import type { Bytes } from '../../../base/go-text/index.ts';
import { Dict, List, type Value } from './values.ts';

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
export function watchedValue(value: Value, onRead: (text: Bytes) => void): Value {
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
