import type { Logger } from 'pino';
import type { Answer, BlockingAnswers } from './handlers/answer.ts';
import { HandlerFailure } from './handlers/handler.ts';
import { checkKind, checkOptions } from './handlers/options.ts';
import { fault, intendedFailure } from './handlers/thrown.ts';

/** Options of jobs; all are optional. */
export interface JobsOptions {
  /** After how many seconds a caller asks again while its job runs. Default: 10. */
  retryAfterSeconds?: number | undefined;
  /**
   * How long a job may take, in seconds. After that its signal is aborted and the job has failed, whether it observes
   * the signal or not. Default: 14,400 (four hours).
   */
  maxSeconds?: number | undefined;
  /** How long a completed job is remembered and not run again, in seconds. Default: 3600. */
  rememberSeconds?: number | undefined;
  /** Maximum number of concurrent jobs; further jobs wait for their turn, and their callers with them. Default: 16. */
  maxRunning?: number | undefined;
  /** Maximum number of completed jobs that are remembered; the oldest are forgotten first. Default: 10,000. */
  maxRemembered?: number | undefined;
  /** Returns milliseconds of a monotonic clock. Default: the system's. */
  now?: (() => number) | undefined;
}

/** One job. */
export interface Job<Response> {
  /** Creates the answer: the `answer` of the handler's context. */
  answer: BlockingAnswers<Response>;
  /**
   * Identifies the work: the same key means the same work. Include everything that makes it different work, such as the
   * Cluster's namespace, name and uid, and the target version.
   */
  key: string;
  /** The message that users read while the job runs. It should not change between calls. */
  message: string;
  /**
   * Does the work. It runs again after a restart of the extension, and replicas do not know of each other, so it has to
   * find out what has already been done. If it throws a `HandlerFailure`, its message becomes the answer.
   */
  run(signal: AbortSignal): Promise<void>;
  log?: Pick<Logger, 'error' | 'info'> | undefined;
}

/** Runs long work in the background, so that handlers return within milliseconds. */
export interface Jobs {
  /**
   * Creates the answer for a job: starts the job, blocks while it runs, and is done once the job is. A failed job is
   * reported as a Failure once; the next call, which Cluster API makes after a backoff, runs it again.
   */
  answer<Response>(job: Job<Response>): Answer<Response>;
  /** Number of running jobs. */
  running(): number;
  /** Aborts the signals of running jobs and waits until they have ended. */
  stop(): Promise<void>;
}

type State =
  | { state: 'running'; ended: Promise<void> }
  | { state: 'done'; until: number }
  | { state: 'failed'; message: string };

/** Longest delay of a timer, in seconds. */
const longestSeconds = 2_000_000;

/**
 * Creates an empty set of jobs.
 *
 * @throws {RangeError} for an option outside its values.
 * @throws {TypeError} for options that are not an object, or a clock that is not a function.
 */
export function createJobs(options: JobsOptions = {}): Jobs {
  checkOptions(options, 'createJobs', '{ retryAfterSeconds: 10 }, or leave it out');
  const {
    retryAfterSeconds = 10,
    maxSeconds = 14_400,
    rememberSeconds = 3600,
    maxRunning = 16,
    maxRemembered = 10_000,
    now = () => performance.now(),
  } = options;
  checkKind('now', now, 'function', 'give one that returns milliseconds');
  if (!Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 1) {
    throw new RangeError(`retryAfterSeconds: ${retryAfterSeconds} is not a whole number above 0`);
  }
  if (!(typeof maxSeconds === 'number' && maxSeconds > 0 && maxSeconds <= longestSeconds)) {
    throw new RangeError(`maxSeconds: ${maxSeconds} is not a number above 0 and up to ${longestSeconds}`);
  }
  if (!(typeof rememberSeconds === 'number' && rememberSeconds >= 0)) {
    throw new RangeError(`rememberSeconds: ${rememberSeconds} is not a number from 0 on`);
  }
  // With none, every caller would wait forever.
  if (!Number.isInteger(maxRunning) || maxRunning < 1) {
    throw new RangeError(`maxRunning: ${maxRunning} is not a whole number above 0`);
  }
  if (!Number.isInteger(maxRemembered) || maxRemembered < 0) {
    throw new RangeError(`maxRemembered: ${maxRemembered} is not a whole number from 0 on`);
  }
  // In the order in which they entered their state: the oldest completed ones come first.
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
      put(key, {
        state: 'failed',
        message: intendedFailure(error) ?? 'the work failed: see the log of the extension',
      });
      const { message, stack } = fault(error);
      log?.error({ job: key, message, ...(stack !== undefined && { stack }) }, 'job failed');
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
            // The job starts after this call has been answered, so that a job that fails at once is already in the set
            // when it fails.
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
