/** How one run for a key ended. */
export type RunResult =
  /** Runs again after `againMs`, if nothing asks for it before. */
  | { result: 'done'; againMs?: number }
  /** Runs again after a wait that grows with each failure in a row. */
  | { result: 'failed' };

/** Times of a queue, in ms. */
export interface QueuePace {
  /** Least time between the beginnings of two runs of a key. */
  minIntervalMs: number;
  /** The wait after failure n in a row (from 0) is `backoffMs + backoffStepMs * 2^n`, at most `maxBackoffMs`. */
  backoffMs: number;
  backoffStepMs: number;
  maxBackoffMs: number;
}

/** Options of a queue. */
export interface QueueOptions {
  run(key: string): Promise<RunResult>;
  /** Maximum number of runs at a time. */
  concurrency: number;
  /** Maximum number of them for keys whose last run failed: what hangs does not hold up the rest. */
  failingConcurrency: number;
  pace: QueuePace;
}

/** Options for adding a key. */
export interface AddOptions {
  /** Ends its backoff. */
  afresh?: boolean;
  /** It has failed before, and takes a place among those that failed. */
  suspect?: boolean;
}

/** Runs work for keys: each key at most once at a time, and again when it is added while it runs. */
export interface Queue {
  /** Runs the key soon. */
  add(key: string, options?: AddOptions): void;
  isRunning(key: string): boolean;
  /** Forgets a key that is gone. When it is added again during its last run, it runs after that. */
  forget(key: string): void;
  /** Keys that are ready to run but have no place yet. */
  readonly waiting: number;
  readonly running: number;
  /** Starts nothing more, and resolves when nothing runs. */
  stop(): Promise<void>;
}

interface Entry {
  state: 'idle' | 'ready' | 'running';
  /** Added while it ran. */
  isAddedAgain: boolean;
  /** Forgotten while it ran: its failures no longer count. */
  isForgotten: boolean;
  /** Failures in a row. */
  failures: number;
  isSuspect: boolean;
  startedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the timer ends, on the clock of `performance.now()`. */
  dueAt: number;
}

const isFailing = ({ failures, isSuspect }: Entry) => failures > 0 || isSuspect;

/** First in, first out; taking one costs the same however many there are. */
function createLine() {
  let keys: string[] = [];
  let next = 0;
  return {
    get length() {
      return keys.length - next;
    },
    push: (key: string) => void keys.push(key),
    shift(): string | undefined {
      const key = keys[next++];
      if (next > 1_000 && next * 2 > keys.length) {
        keys = keys.slice(next);
        next = 0;
      }
      return key;
    },
  };
}

/** Creates an empty queue. */
export function createQueue({ run, concurrency, failingConcurrency, pace }: QueueOptions): Queue {
  const entries = new Map<string, Entry>();
  const healthy = createLine();
  const failing = createLine();
  let running = 0;
  let runningFailing = 0;
  let isStopped = false;
  const stopped = Promise.withResolvers<void>();

  function schedule(key: string, entry: Entry, dueAt: number): void {
    if (entry.timer !== undefined && entry.dueAt <= dueAt) {
      return;
    }
    clearTimeout(entry.timer);
    entry.dueAt = dueAt;
    entry.timer = setTimeout(() => enqueue(key, entry), Math.max(0, dueAt - performance.now()));
    entry.timer.unref();
  }

  function enqueue(key: string, entry: Entry): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.state = 'ready';
    (isFailing(entry) ? failing : healthy).push(key);
    startNext();
  }

  function startNext(): void {
    while (!isStopped && running < concurrency) {
      const mayFail = failing.length > 0 && runningFailing < failingConcurrency;
      // The two lines take turns, so that neither waits for the other to be empty.
      const line = mayFail && (healthy.length === 0 || runningFailing * 2 < running) ? failing : healthy;
      if (line.length === 0) {
        return;
      }
      const key = line.shift() as string;
      const entry = entries.get(key);
      // Forgotten, or in the line for a second time.
      if (entry?.state === 'ready') {
        void start(key, entry);
      }
    }
  }

  async function start(key: string, entry: Entry): Promise<void> {
    const wasFailing = isFailing(entry);
    entry.isSuspect = false;
    entry.state = 'running';
    entry.isAddedAgain = false;
    entry.startedAt = performance.now();
    running++;
    runningFailing += wasFailing ? 1 : 0;
    let outcome: RunResult = { result: 'failed' };
    try {
      outcome = await run(key);
    } finally {
      running--;
      runningFailing -= wasFailing ? 1 : 0;
      finish(key, entry, outcome);
    }
  }

  function finish(key: string, entry: Entry, outcome: RunResult): void {
    if (isStopped) {
      if (running === 0) {
        stopped.resolve();
      }
      return;
    }
    if (entry.isForgotten) {
      entries.delete(key);
      if (entry.isAddedAgain) {
        add(key);
      }
    } else {
      entry.state = 'idle';
      const now = performance.now();
      if (outcome.result === 'failed') {
        const backoff = pace.backoffMs + pace.backoffStepMs * 2 ** Math.min(entry.failures, 40);
        entry.failures++;
        schedule(key, entry, now + Math.min(backoff, pace.maxBackoffMs));
      } else {
        entry.failures = 0;
        if (outcome.againMs !== undefined) {
          schedule(key, entry, Math.max(now + outcome.againMs, entry.startedAt + pace.minIntervalMs));
        }
      }
      if (entry.isAddedAgain) {
        schedule(key, entry, entry.startedAt + pace.minIntervalMs);
      }
    }
    startNext();
  }

  function add(key: string, { afresh = false, suspect = false }: AddOptions = {}): void {
    if (isStopped) {
      return;
    }
    let entry = entries.get(key);
    if (entry === undefined) {
      entry = {
        state: 'idle',
        isAddedAgain: false,
        isForgotten: false,
        failures: 0,
        isSuspect: suspect,
        startedAt: Number.NEGATIVE_INFINITY,
        timer: undefined,
        dueAt: 0,
      };
      entries.set(key, entry);
    }
    if (afresh) {
      entry.failures = 0;
    }
    if (entry.state === 'running') {
      entry.isAddedAgain = true;
    } else if (entry.state === 'idle') {
      const earliest = entry.startedAt + pace.minIntervalMs;
      if (earliest <= performance.now()) {
        enqueue(key, entry);
      } else {
        schedule(key, entry, earliest);
      }
    }
  }

  return {
    add,
    isRunning: (key) => entries.get(key)?.state === 'running',
    forget(key) {
      const entry = entries.get(key);
      clearTimeout(entry?.timer);
      if (entry?.state === 'running') {
        entry.isForgotten = true;
        entry.isAddedAgain = false;
      } else {
        entries.delete(key);
      }
    },
    get waiting() {
      return healthy.length + failing.length;
    },
    get running() {
      return running;
    },
    stop() {
      isStopped = true;
      for (const { timer } of entries.values()) {
        clearTimeout(timer);
      }
      if (running === 0) {
        stopped.resolve();
      }
      return stopped.promise;
    },
  };
}
