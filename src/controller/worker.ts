import type { RunResult } from './queue.ts';
import type { StoredConfig } from './stored.ts';

/** What one mode does with ExtensionConfigs. */
export interface Worker {
  /** Called once all ExtensionConfigs have been read, before the first run. */
  begin?(configs: readonly StoredConfig[]): void;
  /**
   * Works on one ExtensionConfig.
   *
   * @throws {Error} when the API server fails: the run is retried.
   */
  run(config: StoredConfig, signal: AbortSignal): Promise<RunResult>;
  /** Whether a run has dealt with everything in an object. */
  isSettled(config: StoredConfig): boolean;
  /** Called when an object has been deleted. */
  forget(config: StoredConfig): void;
  /** Writes what is still to be written. */
  flush?(): Promise<void>;
}
