import { LRUCache } from 'lru-cache';
import { fault, intendedFailure } from '../handlers/thrown.ts';
import type { Job, JobState, RunJob } from './job.ts';

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

/** Maximum number of jobs whose state is known. */
const maxJobs = 10_000;

/** Jobs that run in this process. */
export function inProcessJobs({ run }: InProcessJobsOptions): RunJob {
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
