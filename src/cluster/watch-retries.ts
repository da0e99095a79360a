import { askedWait } from './cluster.ts';
import { ConnectionError } from './transport.ts';
import { type WatchPace, waitAfter } from './watch-pace.ts';

/** What to do after a watch has ended: start the next one at once, or report a problem and wait, in ms. */
export type AfterWatch = 'again' | { waitMs: number };

/** Decides when the next watch of a collection begins, based on how the previous ones ended. */
export class WatchRetries {
  readonly #pace: Pick<WatchPace, 'minRetryMs' | 'maxRetryMs'>;
  readonly #jitter: () => number;
  /** Number of consecutive abnormal ends. */
  #failures = 0;

  /** @param jitter returns the factor for a wait, unless the server asks for a longer one. */
  constructor(pace: Pick<WatchPace, 'minRetryMs' | 'maxRetryMs'>, jitter: () => number = () => 1) {
    this.#pace = pace;
    this.#jitter = jitter;
  }

  /** The server ended a watch that lasted `ms`: normal, unless it did so at once. */
  afterEnd(lastedMs: number): AfterWatch {
    if (lastedMs >= this.#pace.minRetryMs) {
      this.#failures = 0;
      return 'again';
    }
    return this.#wait(0);
  }

  /**
   * A watch failed after this many ms. A connection that has lasted a while may end, and a version may be too old: it
   * is a problem only if the next watch fails, too.
   * @param isTooOld whether the error says that the version to watch from is too old.
   */
  afterError(error: unknown, lastedMs: number, isTooOld = false): AfterWatch {
    const isOrdinary = isTooOld || (error instanceof ConnectionError && lastedMs >= this.#pace.minRetryMs);
    if (isOrdinary && this.#failures === 0) {
      this.#failures++;
      return 'again';
    }
    return this.#wait(askedWait(error));
  }

  #wait(askedMs: number): AfterWatch {
    this.#failures++;
    const { minRetryMs, maxRetryMs } = this.#pace;
    return { waitMs: Math.max(askedMs, waitAfter(this.#failures, minRetryMs, maxRetryMs) * this.#jitter()) };
  }
}
