import type { StoredConfig } from './stored.ts';

/**
 * Distinguishes changes by others from this program's own writes, so that a write does not trigger another discovery.
 */
export interface OwnWrites {
  /** Records the state that a run starts from. */
  begin(config: StoredConfig): void;
  wrote(before: StoredConfig, after: StoredConfig): void;
  /** Whether a run has handled the current state of the object. */
  isSettled(config: StoredConfig): boolean;
  forget(name: string): void;
}

interface Seen {
  uid: string;
  /** Versions that the last run read and wrote: their events may arrive late. */
  versions: Set<string>;
  fingerprint: string;
}

/**
 * Creates a record that is empty.
 *
 * @param fingerprintOf returns the parts of an object that a run depends on and writes.
 */
export function createOwnWrites(fingerprintOf: (config: StoredConfig) => string): OwnWrites {
  const byName = new Map<string, Seen>();
  return {
    begin(config) {
      const { name, uid, resourceVersion } = config.metadata;
      byName.set(name, { uid, versions: new Set([resourceVersion]), fingerprint: fingerprintOf(config) });
    },
    wrote(before, after) {
      const seen = byName.get(after.metadata.name);
      if (seen !== undefined) {
        seen.versions.add(before.metadata.resourceVersion).add(after.metadata.resourceVersion);
        seen.fingerprint = fingerprintOf(after);
      }
    },
    isSettled(config) {
      const seen = byName.get(config.metadata.name);
      return (
        seen !== undefined &&
        seen.uid === config.metadata.uid &&
        (seen.versions.has(config.metadata.resourceVersion) || seen.fingerprint === fingerprintOf(config))
      );
    },
    forget: (name) => void byName.delete(name),
  };
}
