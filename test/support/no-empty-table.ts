import { describe, test } from 'vitest';

/** Marks a function that rejects empty tables already: the files of a worker share `test` and `describe`. */
const guarded = Symbol.for('refuses empty tables');

// A table that is read from files has no rows after the files moved: its tests would disappear silently.
type Table = (...given: unknown[]) => unknown;
for (const api of [test, describe] as unknown as { each: Table; for: Table; [guarded]?: true }[]) {
  if (api[guarded] !== true) {
    for (const name of ['each', 'for'] as const) {
      const original = api[name];
      api[name] = function (this: unknown, ...given) {
        if (Array.isArray(given[0]) && given[0].length === 0) {
          throw new Error(`${name}() of a table without rows: where are they read from?`);
        }
        return original.apply(this, given);
      };
    }
    api[guarded] = true;
  }
}
