import type { Logger } from 'pino';
import type { Answer, BlockingAnswers } from './answer.ts';
import { HandlerFailure } from './handler.ts';

/** Options of jobs; all are optional. */
export interface JobsOptions {
  /** When a caller asks again while its job runs, in seconds. Default: 10. */
  retryAfterSeconds?: number;
  /**
   * How long a job may take, in seconds: then its signal aborts and it has failed, whether it observes the signal or
   * not. Default: 14,400 (four hours).
   */
  maxSeconds?: number;
  /** How long a done job is remembered, in seconds, during which it is not run again. Default: 3600. */
  rememberSeconds?: number;
  /**
   * Maximum number of jobs that run at a time; others wait for their turn, and their callers with them. Default: 16.
   */
  maxRunning?: number;
  /** Maximum number of done jobs that are remembered; the oldest are forgotten first. Default: 10,000. */
  maxRemembered?: number;
  /** Milliseconds of a monotonic clock. Default: the system's. */
  now?: () => number;
}

/** One job. */
export interface Job<Response> {
  /** Creates the answer: `answer` of the handler's context. */
  answer: BlockingAnswers<Response>;
  /**
   * Identifies the work: the same key is the same work. Include everything that makes it different work, such as the
   * Cluster's namespace, name and uid, and the target version.
   */
  key: string;
  /** The message that users read while it runs: a stable text. */
  message: string;
  /**
   * Does the work. After a restart of the extension it runs again, and replicas do not know of each other: it has to
   * find out what has already been done. A `HandlerFailure` that it throws is the answer with its message.
   */
  run(signal: AbortSignal): Promise<void>;
  log?: Pick<Logger, 'error' | 'info'>;
}

/** Runs long work in the background, so that handlers take milliseconds. */
export interface Jobs {
  /**
   * Creates the answer for a job: starts it, blocks while it runs, and is done once it is. A failed one is a Failure
   * once; the call after it, which Cluster API makes after a backoff, runs it again.
   */
  answer<Response>(job: Job<Response>): Answer<Response>;
  /** Jobs that run. */
  running(): number;
  /** Aborts the signals of running jobs and waits until they end. */
  stop(): Promise<void>;
}

type State =
  | { state: 'running'; ended: Promise<void> }
  | { state: 'done'; until: number }
  | { state: 'failed'; message: string };

/** Longest time that a timer takes, in seconds. */
const longestSeconds = 2_000_000;

/** A set of jobs. */
export function createJobs({
  retryAfterSeconds = 10,
  maxSeconds = 14_400,
  rememberSeconds = 3600,
  maxRunning = 16,
  maxRemembered = 10_000,
  now = () => performance.now(),
}: JobsOptions = {}): Jobs {
  if (!Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 1) {
    throw new RangeError(`retryAfterSeconds: ${retryAfterSeconds} is not a whole number above 0`);
  }
  if (!(maxSeconds > 0 && maxSeconds <= longestSeconds)) {
    throw new RangeError(`maxSeconds: ${maxSeconds} is not a number above 0 and up to ${longestSeconds}`);
  }
  // In the order in which they entered their states: the oldest finished ones come first.
  const jobs = new Map<string, State>();
  const stopping = new AbortController();
  let running = 0;

  function put(key: string, state: State): void {
    jobs.delete(key);
    jobs.set(key, state);
    for (const [oldest, { state: kind }] of jobs) {
      if (jobs.size - running <= maxRemembered) {
        break;
      }
      if (kind !== 'running') {
        jobs.delete(oldest);
      }
    }
  }

  async function work({ key, run, log }: Job<unknown>): Promise<void> {
    const ending = new AbortController();
    const timedOut = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `the work took longer than ${maxSeconds} s`;
      timedOut.reject(new HandlerFailure(message));
      ending.abort(new DOMException(message, 'TimeoutError'));
    }, maxSeconds * 1000);
    timer.unref();
    try {
      await Promise.race([run(AbortSignal.any([stopping.signal, ending.signal])), timedOut.promise]);
      running--;
      put(key, { state: 'done', until: now() + rememberSeconds * 1000 });
      log?.info({ job: key }, 'job done');
    } catch (error) {
      running--;
      const isOurs = error instanceof HandlerFailure;
      const message = isOurs ? error.message : 'the work failed: see the log of the extension';
      put(key, { state: 'failed', message });
      const cause =
        error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
      log?.error({ job: key, ...cause }, 'job failed');
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    answer<Response>(job: Job<Response>): Answer<Response> {
      const { answer, key, message } = job;
      const known = jobs.get(key);
      const state = known?.state === 'done' && known.until <= now() ? undefined : known;
      switch (state?.state) {
        case 'done':
          // Blocking hooks have no required fields of their own.
          return (answer as unknown as { done(): Answer<Response> }).done();
        case 'failed':
          jobs.delete(key);
          return answer.failure(state.message);
        case 'running':
          return answer.retryAfterSeconds(retryAfterSeconds, message);
        default:
          if (running < maxRunning && !stopping.signal.aborted) {
            running++;
            // The job starts after this answer, so that one that fails at once is known before it fails.
            const ended = Promise.resolve().then(() => work(job as Job<unknown>));
            put(key, { state: 'running', ended });
          }
          return answer.retryAfterSeconds(retryAfterSeconds, message);
      }
    },
    running: () => running,
    async stop() {
      stopping.abort(new DOMException('the extension stops', 'AbortError'));
      await Promise.all([...jobs.values()].map((job) => (job.state === 'running' ? job.ended : undefined)));
    },
  };
}
