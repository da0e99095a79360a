/** How one run for a key ended. */
export type RunResult =
  /** Runs again after `againMs`, unless the key is added before. */
  | { result: 'done'; againMs?: number }
  /** Runs again after a wait that grows with each failure in a row. */
  | { result: 'failed' };

/** Intervals of a queue, in ms. */
export interface QueuePace {
  /** Minimum time between the starts of two runs of a key. */
  minIntervalMs: number;
  /** The wait after failure n in a row (from 0) is `backoffMs + backoffStepMs * 2^n`, at most `maxBackoffMs`. */
  backoffMs: number;
  backoffStepMs: number;
  maxBackoffMs: number;
}

export interface QueueOptions {
  run(key: string): Promise<RunResult>;
  concurrency: number;
  /**
   * Maximum number of concurrent runs for keys whose last run failed, so that unresponsive extensions do not hold up
   * the rest.
   */
  failingConcurrency: number;
  pace: QueuePace;
}

interface AddOptions {
  afresh?: boolean;
  /** It has failed before, and counts against the limit for failing keys. */
  suspect?: boolean;
}

interface Entry {
  state: 'idle' | 'ready' | 'running';
  /** Whether it was added during its run. */
  isAddedAgain: boolean;
  /** Whether it was forgotten during its run: then its failures no longer count. */
  isForgotten: boolean;
  failures: number;
  isSuspect: boolean;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the timer fires, on the clock of `performance.now()`. */
  dueAt: number;
}

const isFailing = ({ failures, isSuspect }: Entry) => failures > 0 || isSuspect;

const newEntry = (isSuspect: boolean): Entry => ({
  state: 'idle',
  isAddedAgain: false,
  isForgotten: false,
  failures: 0,
  isSuspect,
  startedAt: Number.NEGATIVE_INFINITY,
  timer: undefined,
  dueAt: 0,
});

/** First in, first out, in constant time: an array's own `shift` moves all of a long array. */
class Line {
  #added: string[] = [];
  /** In reverse. */
  #next: string[] = [];

  get length(): number {
    return this.#added.length + this.#next.length;
  }

  push(key: string): void {
    this.#added.push(key);
  }

  shift(): string | undefined {
    if (this.#next.length === 0) {
      this.#next = this.#added.reverse();
      this.#added = [];
    }
    return this.#next.pop();
  }
}

/** Runs work by key: each key at most once at a time, and again if it is added during its run. */
export class Queue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  /** The keys that are ready, first in, first out. */
  readonly #healthy = new Line();
  readonly #failing = new Line();
  readonly #stopped = Promise.withResolvers<void>();
  #running = 0;
  #runningFailing = 0;
  #isStopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Number of keys that are ready but wait for a free slot. */
  get waiting(): number {
    return this.#healthy.length + this.#failing.length;
  }

  get running(): number {
    return this.#running;
  }

  isRunning(key: string): boolean {
    return this.#entries.get(key)?.state === 'running';
  }

  /** Runs the key soon. */
  add(key: string, { afresh = false, suspect = false }: AddOptions = {}): void {
    if (this.#isStopped) {
      return;
    }
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = newEntry(suspect);
      this.#entries.set(key, entry);
    }
    if (afresh) {
      entry.failures = 0;
    }
    if (entry.state === 'running') {
      entry.isAddedAgain = true;
    } else if (entry.state === 'idle') {
      const earliest = entry.startedAt + this.#options.pace.minIntervalMs;
      if (earliest <= performance.now()) {
        this.#enqueue(key, entry);
      } else {
        this.#schedule(key, entry, earliest);
      }
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

  /** Schedules a key to enter its line at a time, unless it enters earlier. */
  #schedule(key: string, entry: Entry, dueAt: number): void {
    if (entry.timer !== undefined && entry.dueAt <= dueAt) {
      return;
    }
    clearTimeout(entry.timer);
    entry.dueAt = dueAt;
    entry.timer = setTimeout(() => this.#enqueue(key, entry), Math.max(0, dueAt - performance.now()));
    entry.timer.unref();
  }

  #enqueue(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.state = 'ready';
    (isFailing(entry) ? this.#failing : this.#healthy).push(key);
    this.#startNext();
  }

  /** Starts as many runs as there are free slots. */
  #startNext(): void {
    const { concurrency, failingConcurrency } = this.#options;
    while (!this.#isStopped && this.#running < concurrency) {
      const mayFail = this.#failing.length > 0 && this.#runningFailing < failingConcurrency;
      // The two lines take turns, so that neither waits for the other to be empty.
      const isTurnOfFailing = this.#healthy.length === 0 || this.#runningFailing * 2 < this.#running;
      const line = mayFail && isTurnOfFailing ? this.#failing : this.#healthy;
      const key = line.shift();
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
    const wasFailing = isFailing(entry);
    entry.isSuspect = false;
    entry.state = 'running';
    entry.isAddedAgain = false;
    entry.startedAt = performance.now();
    this.#running++;
    this.#runningFailing += wasFailing ? 1 : 0;
    let outcome: RunResult = { result: 'failed' };
    try {
      outcome = await this.#options.run(key);
    } finally {
      this.#running--;
      this.#runningFailing -= wasFailing ? 1 : 0;
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
      this.#schedule(key, entry, now + Math.min(backoff, maxBackoffMs));
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
