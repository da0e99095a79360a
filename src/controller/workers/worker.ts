import type { StoredConfig } from '../configs/stored.ts';
import type { RunResult } from '../queue/queue.ts';

/** What a mode does with ExtensionConfigs. */
export interface Worker {
  /** Called once all ExtensionConfigs have been listed, before the first run. */
  begin?(configs: readonly StoredConfig[]): void;
  /**
   * Reconciles one ExtensionConfig.
   *
   * @throws {Error} when the API server fails: the run is retried.
   */
  run(config: StoredConfig, signal: AbortSignal): Promise<RunResult>;
  /** Whether a run has handled the current state of an object. */
  isSettled(config: StoredConfig): boolean;
  /** Called when an object has been deleted. */
  forget(config: StoredConfig): void;
  /** Writes what is still pending. */
  flush?(): Promise<void>;
}
