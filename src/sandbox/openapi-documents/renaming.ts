import { componentKey } from './components.ts';

export interface Renaming {
  /** Section of the components, or `operationId`. */
  section: string;
  name: string;
  newName: string;
  /** Names of the documents in which it had the old name. */
  documents: string[];
}

/** Hands out unused names: `NAME_v2`, `NAME_v3`, …, as API servers rename duplicates. */
export class FreshNames {
  readonly #taken: Set<string>;
  readonly #next = new Map<string, number>();

  constructor(taken: Set<string>) {
    this.#taken = taken;
  }

  /** The name itself if it is unused, else the first new name that is. */
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
