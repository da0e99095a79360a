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

interface Entry {
  failures: number;
  startedAt: number;
  isRunning: boolean;
  /** When it runs next, on the clock of `performance.now()`; if that is during a run, after it. */
  dueAt: number;
  timer?: NodeJS.Timeout;
}

/** Runs work by key: each key at most once at a time, and again if it is added during its run. */
export function createQueue(work: (key: string) => Promise<RunResult>, concurrency: number, pace: QueuePace) {
  const entries = new Map<string, Entry>();
  const ready = new Set<string>();
  const runs = new Set<Promise<void>>();
  let isStopped = false;

  function schedule(key: string, entry: Entry, dueAt: number): void {
    entry.dueAt = Math.min(entry.dueAt, dueAt);
    if (isStopped || entry.isRunning || entry.dueAt === Infinity) {
      return;
    }
    clearTimeout(entry.timer);
    const due = () => {
      ready.add(key);
      startNext();
    };
    entry.timer = setTimeout(due, Math.max(0, entry.dueAt - performance.now())).unref();
  }

  function startNext(): void {
    for (const key of ready) {
      if (isStopped || runs.size === concurrency) {
        return;
      }
      ready.delete(key);
      const started = run(key, entries.get(key) as Entry);
      runs.add(started);
      void started.finally(() => {
        runs.delete(started);
        startNext();
      });
    }
  }

  async function run(key: string, entry: Entry): Promise<void> {
    clearTimeout(entry.timer);
    Object.assign(entry, { isRunning: true, dueAt: Infinity, startedAt: performance.now() });
    const outcome = await work(key);
    entry.isRunning = false;
    if (outcome === undefined && entry.dueAt === Infinity) {
      entries.delete(key);
      return;
    }
    const backoffMs = Math.min(pace.backoffMs + pace.backoffStepMs * 2 ** entry.failures, pace.maxBackoffMs);
    const { result, againMs = Infinity } = outcome ?? { result: 'done' };
    const isFailed = result === 'failed';
    entry.failures = isFailed ? entry.failures + 1 : 0;
    schedule(key, entry, performance.now() + (isFailed ? Math.min(backoffMs, againMs) : againMs));
  }

  return {
    /** Keys that are due but wait for a free slot. */
    get waiting(): number {
      return ready.size;
    },
    get running(): number {
      return runs.size;
    },
    /** Runs the key soon. @param afresh whether its failures no longer count. */
    add(key: string, afresh = false): void {
      const entry = entries.get(key) ?? { failures: 0, startedAt: -Infinity, isRunning: false, dueAt: Infinity };
      entries.set(key, entry);
      if (afresh) {
        entry.failures = 0;
      }
      schedule(key, entry, entry.startedAt + pace.minIntervalMs);
    },
    /** Starts no more runs, and resolves when none is running. */
    async stop(): Promise<void> {
      isStopped = true;
      for (const { timer } of entries.values()) {
        clearTimeout(timer);
      }
      await Promise.all(runs);
    },
  };
}
