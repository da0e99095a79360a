import { askedWait, isStatus } from '../requests/kubernetes-client.ts';
import { ConnectionError } from '../requests/transport.ts';

/** Intervals of consecutive watches, in ms; tests pass shorter ones. */
export interface WatchPace {
  /** How long one watch lasts; API servers accept whole seconds. */
  watchMs: number;
  /** How long after that a silent connection is considered dead. */
  graceMs: number;
  /** The shortest and the longest wait between failed attempts to watch. */
  minRetryMs: number;
  maxRetryMs: number;
  /** How long the response to a page of a list may take. */
  readDeadlineMs: number;
}

/** What to do after a watch has ended: start the next one at once, or wait, in ms, and say so if it is a problem. */
export type AfterWatch = 'again' | { waitMs: number; isProblem: boolean };

export interface WatchLife {
  isOpen: boolean;
  /** How long after its request it ended, in ms. */
  lastedMs: number;
  /** Number of changes and bookmarks that it reported; 0 if they only said what was known. */
  events: number;
}

/** Decides when the next watch of a collection begins, based on how the previous ones ended. */
export class WatchRetries {
  readonly #pace: Pick<WatchPace, 'minRetryMs' | 'maxRetryMs'>;
  readonly #jitter: () => number;
  #failures = 0;

  /**
   * @param jitter returns the factor for a wait, unless the server asks for a longer one. Every list after the first comes
   *   after a wait: a server that restarts, or compacts its storage, ends the watches of all clients at once.
   */
  constructor(pace: Pick<WatchPace, 'minRetryMs' | 'maxRetryMs'>, jitter: () => number = () => 1) {
    this.#pace = pace;
    this.#jitter = jitter;
  }

  /**
   * That the server ends a watch is normal, unless it does so at once and without any event. After an error, everything is
   * read again. A connection may end at any time, and a load balancer may end each: that is a problem only if nothing comes
   * of it, as for client-go. A version may be too old: a problem only if the next watch fails, too.
   */
  after({ isOpen, lastedMs, events }: WatchLife, error?: unknown): AfterWatch {
    const { minRetryMs, maxRetryMs } = this.#pace;
    const hasLasted = lastedMs >= minRetryMs;
    const isLost = error instanceof ConnectionError && isOpen;
    if ((error === undefined || isLost) && (hasLasted || events > 0)) {
      this.#failures = 0;
      if (error === undefined) {
        return 'again';
      }
    }
    if (isLost && hasLasted) {
      return { waitMs: minRetryMs * this.#jitter(), isProblem: false };
    }
    const isProblem = !isStatus(error, 410) || this.#failures > 0;
    this.#failures++;
    // Twice as long each time.
    const waitMs = Math.min(maxRetryMs, minRetryMs * 2 ** (this.#failures - 1)) * this.#jitter();
    return { waitMs: Math.max(askedWait(error), waitMs), isProblem };
  }
}
