import { LRUCache } from 'lru-cache';
import type { Answer, BlockingAnswers } from './handlers/answer.ts';
import { type HandlerContext, HandlerFailure } from './handlers/handler.ts';
import { checkKey, checkNumber } from './handlers/options.ts';
import { fault, intendedFailure } from './handlers/thrown.ts';

/** Options of jobs; all are optional. */
export interface JobsOptions {
  /** After how many seconds a caller asks again while its job runs. Default: 10. */
  retryAfterSeconds?: number | undefined;
  /**
   * How long a job may take, in seconds. After that its signal is aborted and the job has failed. If it does not observe
   * the signal, it goes on, and is not started again meanwhile. Default: 14,400 (four hours).
   */
  maxSeconds?: number | undefined;
  /**
   * For how long after its last call a completed job is not run again, in seconds. When another handler blocks, Cluster
   * API calls this one again: this should be longer than any handler of the same hook tells Cluster API to wait.
   * Default: 3600.
   */
  rememberSeconds?: number | undefined;
}

/** One job. */
export interface Job {
  /**
   * Identifies the work of this handler for the Cluster or Machine of the request: the same key means the same work.
   * Include what else makes it different work, such as the target version.
   */
  key: string;
  /** The message that users read while the job runs. It should not change between calls. */
  message: string;
  /**
   * Does the work, in this process: it runs again after a restart of the extension, and at the same time in each replica,
   * so it has to find out what has already been done; `createKubernetesJobs` does it once. If it throws a `HandlerFailure`, its message becomes the answer.
   *
   * @param signal aborted when the job exceeds its time, and when the extension stops.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** What a handler of a blocking hook receives. */
export type BlockingContext<Response> = Pick<HandlerContext<Response>, 'log' | 'stopping' | 'subject' | 'waitUntil'> & {
  answer: Pick<BlockingAnswers<Response>, 'fail' | 'retry'> & { done(): Answer<Response> };
};

/**
 * Runs long work in the background of this process, so that handlers return within milliseconds: for one replica, and
 * for work that may run in several at once.
 */
export interface Jobs {
  /**
   * Creates the answer for a job: starts the job, blocks while it runs, and is done once the job is. A failed job is
   * reported as a Failure once; the next call, which Cluster API makes after a backoff, runs it again. A result is kept
   * until a call has received it.
   *
   * @param context of the handler. When its server stops, it waits for the job, whose signal is aborted.
   */
  answer<Response>(context: BlockingContext<Response>, job: Job): Answer<Response>;
}

/** Longest delay of a timer, in seconds. */
const longestSeconds = 2_000_000;

/** Maximum number of concurrent jobs; further jobs wait for their turn, and their callers with them. */
const maxRunning = 16;

/** The newest completed jobs are remembered, 10,000 at most; results of Clusters that were deleted are never received. */
const remembered = { maxSize: 10_000, sizeCalculation: () => 1 };

/**
 * Creates an empty set of jobs.
 *
 * @throws {RangeError} for an option outside its values.
 */
export function createJobs(options: JobsOptions = {}): Jobs {
  const { retryAfterSeconds = 10, maxSeconds = 14_400, rememberSeconds = 3600 } = options;
  checkNumber('retryAfterSeconds', retryAfterSeconds, { min: 1, isWhole: true });
  checkNumber('maxSeconds', maxSeconds, { min: 0.001, max: longestSeconds });
  checkNumber('rememberSeconds', rememberSeconds, { min: 1, isWhole: true });
  const running = new Set<string>();
  /** Results that no call has received: the message of a failure, or undefined. */
  const results = new LRUCache<string, { failure?: string }>(remembered);
  const delivered = new LRUCache<string, true>({ ...remembered, ttl: rememberSeconds * 1000, ttlResolution: 0 });

  async function work(
    { log, stopping }: Pick<BlockingContext<unknown>, 'log' | 'stopping'>,
    key: string,
    run: Job['run'],
  ): Promise<void> {
    const ending = new AbortController();
    const failed = (error: unknown) => {
      results.set(key, { failure: intendedFailure(error) ?? 'the work failed: see the log of the extension' });
      log.error({ job: key, ...fault(error) }, 'job failed');
    };
    const timer = setTimeout(() => {
      const message = `the work took longer than ${maxSeconds} s`;
      failed(new HandlerFailure(message));
      ending.abort(new DOMException(message, 'TimeoutError'));
    }, maxSeconds * 1000);
    timer.unref();
    try {
      await run(AbortSignal.any([stopping, ending.signal]));
      results.set(key, {});
      log.info({ job: key }, 'job done');
    } catch (error) {
      if (stopping.aborted) {
        // Not a failure: the next process starts it again.
        log.warn({ job: key }, 'job interrupted: the extension stops');
      } else if (!ending.signal.aborted) {
        failed(error);
      }
    } finally {
      clearTimeout(timer);
      running.delete(key);
    }
  }

  return {
    answer<Response>(context: BlockingContext<Response>, job: Job): Answer<Response> {
      const { answer, subject } = context;
      const { message } = job;
      checkKey(job.key);
      const key = `${subject} ${job.key}`;
      const result = results.get(key);
      if (result?.failure !== undefined) {
        results.delete(key);
        return answer.fail(result.failure);
      }
      if (result !== undefined || delivered.has(key)) {
        results.delete(key);
        delivered.set(key, true);
        return answer.done();
      }
      if (!running.has(key) && running.size < maxRunning && !context.stopping.aborted) {
        // It starts after this call has been answered: a job that fails at once must not fail before it is in the set.
        running.add(key);
        context.waitUntil(
          Promise.resolve().then(() => work(context, key, job.run)),
          key,
        );
      }
      return answer.retry(retryAfterSeconds, message);
    },
  };
}
