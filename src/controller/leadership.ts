/** The dependencies of a leadership. */
export interface LeadershipOptions {
  /** How long it lasts without renewal, in ms. */
  renewDeadlineMs: number;
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /** Called when it has lasted this long without renewal: it must be given up, for the reason passed. */
  onLate(): void;
}

/** Being the leader, from a renewal of the Lease to the time when the next one is overdue. */
export class Leadership {
  readonly #options: LeadershipOptions;
  /** When the last successful renewal was sent; undefined when not the leader. */
  #renewedAt: number | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** Whether it has not been lost. */
  get isHeld(): boolean {
    return this.#renewedAt !== undefined;
  }

  /** Whether it lasts at this moment, even if the timer that should end it has been late. */
  get isInTime(): boolean {
    const { monotonicMs, renewDeadlineMs } = this.#options;
    return this.#renewedAt !== undefined && monotonicMs() < this.#renewedAt + renewDeadlineMs;
  }

  /** Begins it, or renews it, as of the time when the Lease was asked for. */
  hold(since: number): void {
    const { monotonicMs, renewDeadlineMs, onLate } = this.#options;
    this.#renewedAt = since;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(onLate, Math.max(0, since + renewDeadlineMs - monotonicMs()));
    this.#deadline.unref();
  }

  /** Ends it; returns whether there was one. */
  end(): boolean {
    const wasHeld = this.isHeld;
    this.#renewedAt = undefined;
    clearTimeout(this.#deadline);
    return wasHeld;
  }
}
