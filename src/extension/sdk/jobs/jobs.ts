import type { Answer } from '../handlers/answer.ts';
import { checkKey, checkNumber } from '../handlers/options.ts';
import { type InProcessJobsOptions, inProcessJobs } from './in-process.ts';
import type { BlockingContext, Job } from './job.ts';
import { type KubernetesJobsOptions, kubernetesJobs } from './kubernetes.ts';

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
