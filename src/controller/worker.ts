import type { Outcome } from './queue.ts';
import type { StoredConfig } from './stored.ts';

/** What one mode does with ExtensionConfigs. */
export interface Worker {
  /** All ExtensionConfigs were read, before the first run. */
  begin?(configs: readonly StoredConfig[]): void;
  /**
   * Works on one ExtensionConfig.
   *
   * @throws {Error} when the API server fails: it is tried again.
   */
  run(config: StoredConfig, signal: AbortSignal): Promise<Outcome>;
  /** Whether an object has nothing in it that a run has not dealt with. */
  isSettled(config: StoredConfig): boolean;
  /** An object is gone. */
  forget(config: StoredConfig): void;
  /** Writes what is still to be written. */
  flush?(): Promise<void>;
}
