/** How a run for a key ended. After `againMs` it runs again in any case. Undefined: the key stands for nothing any more. */
export type RunResult = { result: 'done' | 'failed'; againMs?: number } | undefined;

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
  failures: number;
  startedAt: number;
  isRunning: boolean;
  /** When it runs next, on the clock of `performance.now()`; if that is during a run, after it. */
  dueAt: number;
  timer?: NodeJS.Timeout;
}

/** Runs work by key: each key at most once at a time, and again if it is added during its run. */
export class Queue {
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Set<string>();
  readonly #runs = new Set<Promise<void>>();
  #isStopped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Keys that are due but wait for a free slot. */
  get waiting(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Runs the key soon. @param afresh whether its failures no longer count. */
  add(key: string, afresh = false): void {
    const entry = this.#entries.get(key) ?? { failures: 0, startedAt: -Infinity, isRunning: false, dueAt: Infinity };
    this.#entries.set(key, entry);
    if (afresh) {
      entry.failures = 0;
    }
    this.#schedule(key, entry, entry.startedAt + this.#options.pace.minIntervalMs);
  }

  /** Starts no more runs, and resolves when none is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { timer } of this.#entries.values()) {
      clearTimeout(timer);
    }
    await Promise.all(this.#runs);
  }

  #schedule(key: string, entry: Entry, dueAt: number): void {
    entry.dueAt = Math.min(entry.dueAt, dueAt);
    if (this.#isStopped || entry.isRunning || entry.dueAt === Infinity) {
      return;
    }
    clearTimeout(entry.timer);
    const due = () => {
      this.#ready.add(key);
      this.#startNext();
    };
    entry.timer = setTimeout(due, Math.max(0, entry.dueAt - performance.now())).unref();
  }

  #startNext(): void {
    for (const key of this.#ready) {
      if (this.#isStopped || this.#runs.size === this.#options.concurrency) {
        return;
      }
      this.#ready.delete(key);
      const run = this.#run(key, this.#entries.get(key) as Entry);
      this.#runs.add(run);
      void run.finally(() => {
        this.#runs.delete(run);
        this.#startNext();
      });
    }
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const { run, pace } = this.#options;
    clearTimeout(entry.timer);
    Object.assign(entry, { isRunning: true, dueAt: Infinity, startedAt: performance.now() });
    const outcome = await run(key);
    entry.isRunning = false;
    if (outcome === undefined && entry.dueAt === Infinity) {
      this.#entries.delete(key);
      return;
    }
    const backoffMs = Math.min(pace.backoffMs + pace.backoffStepMs * 2 ** entry.failures, pace.maxBackoffMs);
    const { result, againMs = Infinity } = outcome ?? { result: 'done' };
    const isFailed = result === 'failed';
    entry.failures = isFailed ? entry.failures + 1 : 0;
    this.#schedule(key, entry, performance.now() + (isFailed ? Math.min(backoffMs, againMs) : againMs));
  }
}
