/** The dependencies of a leadership. */
interface LeadershipOptions {
  /** How long the leadership lasts without a renewal, in ms. */
  renewDeadlineMs: number;
  /** Returns milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /** Called when the leadership has not been renewed for this long: it must be given up, for the given reason. */
  onLate(): void;
}

/** The leadership of a candidate, which lasts until the renewal of its Lease is overdue. */
export class Leadership {
  readonly #options: LeadershipOptions;
  /** When the last successful renewal was sent; undefined while not the leader. */
  #renewedAt: number | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** Whether the leadership has not been ended. */
  get isHeld(): boolean {
    return this.#renewedAt !== undefined;
  }

  /** Whether the leadership is still valid at this moment, even if the timer that should end it is late. */
  get isInTime(): boolean {
    const { monotonicMs, renewDeadlineMs } = this.#options;
    return this.#renewedAt !== undefined && monotonicMs() < this.#renewedAt + renewDeadlineMs;
  }

  /** Begins or renews the leadership, as of the time when the request for the Lease was sent. */
  hold(since: number): void {
    const { monotonicMs, renewDeadlineMs, onLate } = this.#options;
    this.#renewedAt = since;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(onLate, Math.max(0, since + renewDeadlineMs - monotonicMs()));
    this.#deadline.unref();
  }

  /** Ends the leadership; returns whether there was one. */
  end(): boolean {
    const wasHeld = this.isHeld;
    this.#renewedAt = undefined;
    clearTimeout(this.#deadline);
    return wasHeld;
  }
}
