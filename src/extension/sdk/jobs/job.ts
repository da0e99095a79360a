import type { Answer, BlockingAnswers } from '../handlers/answer.ts';
import type { HandlerContext } from '../handlers/handler.ts';

/** One job. */
export interface Job {
  /**
   * Identifies the work of this handler for the Cluster or Machine of the request: the same key means the same work.
   * Include what else makes it different work, such as the target version.
   */
  key: string;
  /** The message that users read while the job runs. It should not change between calls. */
  message: string;
  /** Environment variables of the containers, besides those of the template: what this work is about. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The Cluster that the work is for. A Job in its namespace is removed with it. */
  cluster?: { metadata?: { name?: string; namespace?: string; uid?: string } } | undefined;
}

/** The input of a handler of a blocking hook. */
export type BlockingContext<Response> = Pick<HandlerContext<Response>, 'log' | 'stopping' | 'subject' | 'waitUntil'> & {
  answer: Pick<BlockingAnswers<Response>, 'fail' | 'retry'> & { done(): Answer<Response> };
};

/** Where a job is: running, done, or failed, which is reported once, and started again by the next call. */
export type JobState = 'running' | 'done' | { failure: string };

/** Starts a job unless it runs or is done, and returns where it is. */
export type RunJob = (context: Omit<BlockingContext<unknown>, 'answer'>, job: Job) => JobState | Promise<JobState>;
