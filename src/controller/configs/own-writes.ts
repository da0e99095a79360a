import type { StoredConfig } from './stored.ts';

interface Seen {
  uid: string;
  /** Versions that the last run read and wrote: their events may arrive late. */
  versions: Set<string>;
  fingerprint: string;
}

/**
 * Distinguishes changes by others from this program's own writes, so that a write does not trigger another discovery.
 */
export class OwnWrites {
  readonly #fingerprintOf: (config: StoredConfig) => string;
  readonly #byName = new Map<string, Seen>();

  /** @param fingerprintOf returns the parts of an object that a run depends on and writes. */
  constructor(fingerprintOf: (config: StoredConfig) => string) {
    this.#fingerprintOf = fingerprintOf;
  }

  /** Records the state that a run starts from. */
  begin(config: StoredConfig): void {
    const { name, uid, resourceVersion } = config.metadata;
    this.#byName.set(name, { uid, versions: new Set([resourceVersion]), fingerprint: this.#fingerprintOf(config) });
  }

  record(before: StoredConfig, after: StoredConfig): void {
    const seen = this.#byName.get(after.metadata.name);
    if (seen !== undefined) {
      seen.versions.add(before.metadata.resourceVersion).add(after.metadata.resourceVersion);
      seen.fingerprint = this.#fingerprintOf(after);
    }
  }

  /** Whether a run has handled the current state of the object. */
  isSettled(config: StoredConfig): boolean {
    const { name, uid, resourceVersion } = config.metadata;
    const seen = this.#byName.get(name);
    return (
      seen?.uid === uid && (seen.versions.has(resourceVersion) || seen.fingerprint === this.#fingerprintOf(config))
    );
  }

  forget(name: string): void {
    this.#byName.delete(name);
  }
}
