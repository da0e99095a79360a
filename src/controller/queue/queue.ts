/** How one run for a key ended. */
export type RunResult =
  /** Runs again after `againMs`, unless the key is added before. */
  | { result: 'done'; againMs?: number }
  /** Runs again after a wait that grows with each failure in a row, at the latest after `againMs`. */
  | { result: 'failed'; againMs?: number };

/** Intervals of a queue, in ms. */
export interface QueuePace {
  /** Minimum time between the starts of two runs of a key. */
  minIntervalMs: number;
  /** The wait after failure n in a row (from 0) is `backoffMs + backoffStepMs * 2^n`, at most `maxBackoffMs`. */
  backoffMs: number;
  backoffStepMs: number;
  maxBackoffMs: number;
}

interface QueueOptions {
  run(key: string): Promise<RunResult>;
  concurrency: number;
  pace: QueuePace;
}

interface Entry {
  state: 'idle' | 'ready' | 'running';
  /** Whether it was added during its run. */
  isAddedAgain: boolean;
  /** Whether it was forgotten during its run: then its failures no longer count. */
  isForgotten: boolean;
  failures: number;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the timer fires, on the clock of `performance.now()`. */
  dueAt: number;
}

const newEntry = (): Entry => ({
  state: 'idle',
  isAddedAgain: false,
  isForgotten: false,
  failures: 0,
  startedAt: Number.NEGATIVE_INFINITY,
  timer: undefined,
  dueAt: 0,
});

/** Runs work by key: each key at most once at a time, and again if it is added during its run. */
export class Queue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  /** The keys that are ready, first in, first out. */
  readonly #ready: string[] = [];
  readonly #stopped = Promise.withResolvers<void>();
  #running = 0;
  #isStopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Number of keys that are ready but wait for a free slot. */
  get waiting(): number {
    return this.#ready.length;
  }

  get running(): number {
    return this.#running;
  }

  isRunning(key: string): boolean {
    return this.#entries.get(key)?.state === 'running';
  }

  /** Runs the key soon. @param afresh whether its failures no longer count. */
  add(key: string, afresh = false): void {
    if (this.#isStopped) {
      return;
    }
    const entry = this.#entries.get(key) ?? newEntry();
    this.#entries.set(key, entry);
    if (afresh) {
      entry.failures = 0;
    }
    if (entry.state === 'running') {
      entry.isAddedAgain = true;
    } else if (entry.state === 'idle') {
      this.#schedule(key, entry, entry.startedAt + this.#options.pace.minIntervalMs);
    }
  }

  /** Forgets a deleted key. If it is added again during its last run, it runs after that. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    clearTimeout(entry?.timer);
    if (entry?.state === 'running') {
      entry.isForgotten = true;
      entry.isAddedAgain = false;
    } else {
      this.#entries.delete(key);
    }
  }

  /** Starts no more runs, and resolves when none is running. */
  stop(): Promise<void> {
    this.#isStopped = true;
    for (const { timer } of this.#entries.values()) {
      clearTimeout(timer);
    }
    if (this.#running === 0) {
      this.#stopped.resolve();
    }
    return this.#stopped.promise;
  }

  /** Schedules a key to become ready at a time, unless it does earlier. */
  #schedule(key: string, entry: Entry, dueAt: number): void {
    if (entry.timer !== undefined && entry.dueAt <= dueAt) {
      return;
    }
    clearTimeout(entry.timer);
    entry.dueAt = dueAt;
    entry.timer = setTimeout(
      () => {
        entry.timer = undefined;
        entry.state = 'ready';
        this.#ready.push(key);
        this.#startNext();
      },
      Math.max(0, dueAt - performance.now()),
    ).unref();
  }

  /** Starts as many runs as there are free slots. */
  #startNext(): void {
    while (!this.#isStopped && this.#running < this.#options.concurrency) {
      const key = this.#ready.shift();
      if (key === undefined) {
        return;
      }
      const entry = this.#entries.get(key);
      // The key was forgotten, or is in the line a second time.
      if (entry?.state === 'ready') {
        void this.#start(key, entry);
      }
    }
  }

  async #start(key: string, entry: Entry): Promise<void> {
    entry.state = 'running';
    entry.isAddedAgain = false;
    entry.startedAt = performance.now();
    this.#running++;
    let outcome: RunResult = { result: 'failed' };
    try {
      outcome = await this.#options.run(key);
    } finally {
      this.#running--;
      this.#finish(key, entry, outcome);
    }
  }

  #finish(key: string, entry: Entry, outcome: RunResult): void {
    if (this.#isStopped) {
      if (this.#running === 0) {
        this.#stopped.resolve();
      }
      return;
    }
    if (entry.isForgotten) {
      this.#entries.delete(key);
      if (entry.isAddedAgain) {
        this.add(key);
      }
    } else {
      this.#scheduleNext(key, entry, outcome);
    }
    this.#startNext();
  }

  /** Schedules the next run of a key after a run. */
  #scheduleNext(key: string, entry: Entry, outcome: RunResult): void {
    const { backoffMs, backoffStepMs, maxBackoffMs, minIntervalMs } = this.#options.pace;
    const now = performance.now();
    const earliest = entry.startedAt + minIntervalMs;
    entry.state = 'idle';
    if (outcome.result === 'failed') {
      const backoff = backoffMs + backoffStepMs * 2 ** Math.min(entry.failures, 40);
      entry.failures++;
      this.#schedule(key, entry, now + Math.min(backoff, outcome.againMs ?? maxBackoffMs));
    } else {
      entry.failures = 0;
      if (outcome.againMs !== undefined) {
        this.#schedule(key, entry, Math.max(now + outcome.againMs, earliest));
      }
    }
    if (entry.isAddedAgain) {
      this.#schedule(key, entry, earliest);
    }
  }
}
