import { componentKey } from './components.ts';

/** A component or operation that was renamed. */
export interface Renaming {
  /** Section of the components, or `operationId`. */
  section: string;
  name: string;
  newName: string;
  /** The documents that had it under its old name. */
  documents: string[];
}

/** Gives out names that are not taken: `NAME_v2`, `NAME_v3`, …, as API servers rename equal names. */
export class FreshNames {
  readonly #taken: Set<string>;
  readonly #next = new Map<string, number>();

  constructor(taken: Set<string>) {
    this.#taken = taken;
  }

  /** The name itself where it is free, else the first free one. */
  take(section: string, name: string): string {
    const key = componentKey(section, name);
    let candidate = key;
    while (this.#taken.has(candidate)) {
      const next = this.#next.get(key) ?? 2;
      this.#next.set(key, next + 1);
      candidate = `${key}_v${next}`;
    }
    this.#taken.add(candidate);
    return candidate.slice(section.length + 1);
  }
}
