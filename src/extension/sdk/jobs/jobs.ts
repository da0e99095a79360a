import { LRUCache } from 'lru-cache';
import type { Answer } from '../handlers/answer.ts';
import { checkKey, checkNumber } from '../handlers/options.ts';
import { fault, intendedFailure } from '../handlers/thrown.ts';
import type { BlockingContext, Job, JobState, RunJob } from './job.ts';
import { type KubernetesJobsOptions, kubernetesJobs } from './kubernetes.ts';

/** Options of jobs that run in this process, for development and tests. */
export interface InProcessJobsOptions {
  /**
   * Does the work of a job: it runs again after a restart of the extension, and in each replica. If it throws a
   * `HandlerFailure`, its message becomes the answer.
   *
   * @param signal aborted when the extension stops, which waits for the job.
   */
  run(job: Job, signal: AbortSignal): Promise<void>;
  /** After how many seconds a caller asks again while its job runs. Default: 10. */
  retryAfterSeconds?: number | undefined;
}

const maxJobs = 10_000;

function inProcessJobs({ run }: InProcessJobsOptions): RunJob {
  const states = new LRUCache<string, JobState>({ max: maxJobs });

  async function work({ log, stopping }: Parameters<RunJob>[0], key: string, job: Job): Promise<void> {
    try {
      await run(job, stopping);
      states.set(key, 'done');
      log.info({ job: key }, 'job done');
    } catch (error) {
      if (stopping.aborted) {
        // Not a failure: the next process starts it again.
        log.warn({ job: key }, 'job interrupted: the extension stops');
        return;
      }
      states.set(key, { failure: intendedFailure(error) ?? 'the work failed: see the log of the extension' });
      log.error({ job: key, ...fault(error) }, 'job failed');
    }
  }

  return (context, job) => {
    const key = `${context.subject} ${job.key}`;
    const state = states.get(key);
    if (typeof state === 'object') {
      states.delete(key);
    }
    if (state !== undefined) {
      return state;
    }
    states.set(key, 'running');
    context.waitUntil(work(context, key, job), key);
    return 'running';
  };
}

/** Runs long work outside of calls, so that handlers return within milliseconds. */
export interface Jobs {
  /**
   * Creates the answer for a job: starts the job, blocks while it runs, and is done once the job is. A failed job is
   * reported as a Failure once, on Kubernetes with the termination message of its Pod; the next call starts it again.
   *
   * @throws {Error} when the API server refuses a request, such as for lack of permissions: create, get, list and patch of
   *   Jobs, and list of Pods.
   */
  answer<Response>(context: BlockingContext<Response>, job: Job): Promise<Answer<Response>>;
}

/**
 * Creates a set of jobs: Jobs on Kubernetes, which replicas and restarts of the extension share, or, with `run`, functions
 * in this process. Nothing is requested before the first call.
 *
 * @throws {RangeError} for a number of seconds outside its range.
 * @throws {TypeError} if the name is not that of a namespace, or the template has no containers.
 */
export function createJobs(options: KubernetesJobsOptions | InProcessJobsOptions): Jobs {
  const { retryAfterSeconds = 10 } = options;
  checkNumber('retryAfterSeconds', retryAfterSeconds, { min: 1, isWhole: true });
  const stateOf = 'run' in options ? inProcessJobs(options) : kubernetesJobs(options);
  return {
    async answer(context, job) {
      checkKey(job.key);
      const state = await stateOf(context, job);
      if (state === 'done') {
        return context.answer.done();
      }
      return state === 'running'
        ? context.answer.retry(retryAfterSeconds, job.message)
        : context.answer.fail(state.failure);
    },
  };
}
