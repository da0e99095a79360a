import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { LRUCache } from 'lru-cache';
import {
  copyOf,
  dns1123LabelProblems,
  fieldAt,
  itemsAt,
  type Json,
  type JsonObject,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { type ApiClient, createClusters } from '../clusters.ts';
import type { Answer, BlockingAnswers } from '../handlers/answer.ts';
import { type HandlerContext, HandlerFailure } from '../handlers/handler.ts';
import { checkNumber, isText } from '../handlers/options.ts';
import { fault } from '../log.ts';

export interface Job {
  /** The same for the same work of this handler for the Cluster or Machine of the request; include the target version, say. */
  key: string;
  /** The message that users read while the job runs. It should not change between calls. */
  message: string;
  /** Environment variables of the containers, besides those of the template: what this work is about. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The Cluster that the work is for. A Job in its namespace is removed with it. */
  cluster?: { metadata?: { name?: string; namespace?: string; uid?: string } } | undefined;
}

/** The input of a handler of a blocking hook. */
type BlockingContext<Response> = Pick<HandlerContext<Response>, 'log' | 'stopping' | 'subject' | 'waitUntil'> & {
  answer: Pick<BlockingAnswers<Response>, 'fail' | 'retry'> & { done(): Answer<Response> };
};

/** Where a job is: running, done, or failed, which is reported once, and started again by the next call. */
type JobState = 'running' | 'done' | { failure: string };

/** Starts a job unless it runs or is done. */
type RunJob = (context: Omit<BlockingContext<unknown>, 'answer'>, job: Job) => JobState | Promise<JobState>;

type Names = Readonly<Record<string, string>>;

interface JobContainer {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly [field: string]: unknown;
}

/** `spec` of a Job (batch/v1), with the Pod whose containers end; what is not named here is as in Kubernetes, and not checked. */
export interface JobSpec {
  readonly template: {
    readonly metadata?: { readonly labels?: Names; readonly annotations?: Names };
    readonly spec: {
      readonly restartPolicy: 'Never' | 'OnFailure';
      readonly containers: readonly JobContainer[];
      readonly serviceAccountName?: string;
      readonly [field: string]: unknown;
    };
  };
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly completions?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: object;
  readonly suspend?: boolean;
  readonly ttlSecondsAfterFinished?: number;
}

/** Options of jobs that run on Kubernetes. */
export interface KubernetesJobsOptions {
  /** Namespace of the Jobs. */
  namespace: string;
  /** `spec` of the Jobs (batch/v1): its `backoffLimit` and `activeDeadlineSeconds` decide about retries and time. */
  template: JobSpec;
  /** Tells several sets of one handler with the same template apart. Default: none. */
  name?: string | undefined;
  /** Default: the cluster in which the extension runs, or the kubeconfig in use. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** After how many seconds a caller asks again while its Job runs. Default: 10. */
  retryAfterSeconds?: number | undefined;
  /** How long a Job is kept after its end, in seconds: as long as someone may ask for its result. Default: a day. */
  keepSeconds?: number | undefined;
}

const keyLabel = 'cluster-api-extension/key';
const attemptLabel = 'cluster-api-extension/attempt';
const keyAnnotation = 'cluster-api-extension/key';
const reportedAnnotation = 'cluster-api-extension/failure-reported';
const clusterLabel = 'cluster.x-k8s.io/cluster-name';

/** Longest message of a failure, in characters: Kubernetes' limit for termination messages. */
const maxMessageLength = 4096;

/** Longest hook and handler in the name of a Job, in characters: its Pods have it as a label, of at most 63. */
const maxPrefixLength = 36;

const attemptOf = (job: JsonObject) => Number(fieldAt(job, 'metadata', 'labels', attemptLabel) ?? 0);
const nameOf = (job: JsonObject) => textAt(job, 'metadata', 'name');

const forbidden = ({ message }: Error) =>
  `${message}: bind the extension's ServiceAccount to the Role in manifests/api-server/role.yaml (in manifests/kustomization.yaml of a generated project, add the component api-server)`;

/** How a Job ended; undefined while it runs. */
function endOf(job: JsonObject): 'Complete' | 'Failed' | undefined {
  const isTrue = (type: string) =>
    objectsAt(job, 'status', 'conditions').some((one) => one.type === type && one.status === 'True');
  return isTrue('Complete') ? 'Complete' : isTrue('Failed') ? 'Failed' : undefined;
}

/** The termination message of a Pod's first container that has one. */
function terminationMessage(pod: Json): string | undefined {
  const messages = objectsAt(pod, 'status', 'containerStatuses').map((one) =>
    textAt(one, 'state', 'terminated', 'message'),
  );
  return messages.find((message) => message !== '');
}

function kubernetesJobs(options: KubernetesJobsOptions): RunJob {
  const { namespace, template, name: setName, retryAfterSeconds = 10, keepSeconds = 86_400 } = options;
  checkNumber('keepSeconds', keepSeconds, { min: retryAfterSeconds, isWhole: true });
  // Such as that of a variable of the environment that is not set.
  const [problem] = dns1123LabelProblems(String(namespace));
  if (problem !== undefined || namespace === undefined) {
    throw new TypeError(`namespace: ${JSON.stringify(namespace)} ${problem ?? 'is needed'}`);
  }
  if (objectsAt(template as unknown as Json, 'template', 'spec', 'containers').length === 0) {
    throw new TypeError('template: spec of a Job is needed, with template.spec.containers of its Pod');
  }
  const { kubeconfig, context } = options;
  const clusters = createClusters({ kubeconfig, context });
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;

  function jobOf({ key, env = {}, cluster }: Job, prefix: string, hash: string, attempt: number): JsonObject {
    const spec = copyOf(template as unknown as JsonObject);
    const own = Object.entries(env).map(([name, value]) => ({ name, value }));
    for (const container of objectsAt(spec, 'template', 'spec', 'containers')) {
      container.env = [...itemsAt(container, 'env'), ...own];
    }
    const { name, namespace: clusterNamespace, uid } = cluster?.metadata ?? {};
    const isOwned = name !== undefined && uid !== undefined && clusterNamespace === namespace;
    return {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        // The same for each replica: the API server accepts one of them.
        name: `${prefix}-${hash}-${attempt}`,
        labels: {
          [keyLabel]: hash,
          [attemptLabel]: String(attempt),
          ...(name !== undefined && { [clusterLabel]: name }),
        },
        annotations: { [keyAnnotation]: key },
        ...(isOwned && { ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name, uid }] }),
      },
      spec: { ttlSecondsAfterFinished: keepSeconds, ...spec },
    };
  }

  async function failureOf(request: ApiClient['request'], job: JsonObject): Promise<string> {
    const query = new URLSearchParams({ labelSelector: `batch.kubernetes.io/job-name=${nameOf(job)}`, limit: '20' });
    const { items } = await request('GET', `/api/v1/namespaces/${namespace}/pods?${query}`);
    const messages = itemsAt(items).map(terminationMessage);
    const message = messages.find((one) => one !== undefined) ?? 'the work failed: see the log of its Job';
    return message.slice(0, maxMessageLength);
  }

  return async ({ log, subject, waitUntil }, job) => {
    const { isStatus } = await import('../../../kubernetes/client/index.ts');
    const client = await clusters.management();
    const request: ApiClient['request'] = (...values) =>
      client.request(...values).catch((error: unknown) => {
        throw isStatus(error, 403) ? new Error(forbidden(error as Error), { cause: error }) : error;
      });
    const [hook = '', handlerName = ''] = subject.split(' ');
    const identity = JSON.stringify([setName, subject, job.key, template]);
    const hash = createHash('sha256').update(identity).digest('hex').slice(0, 20);
    const prefix = `${hook}-${handlerName}`.toLowerCase().slice(0, maxPrefixLength);
    const query = new URLSearchParams({ labelSelector: `${keyLabel}=${hash}`, limit: '100' });
    const { items } = await request('GET', `${jobs}?${query}`);
    const [newest] = objectsAt(items).toSorted((a, b) => attemptOf(b) - attemptOf(a));
    const end = newest && endOf(newest);
    if (newest !== undefined && end === 'Complete') {
      return 'done';
    }
    const isReported = fieldAt(newest, 'metadata', 'annotations', reportedAnnotation) !== undefined;
    if (newest !== undefined && end === 'Failed' && !isReported) {
      const message = await failureOf(request, newest);
      const annotations = { [reportedAnnotation]: 'true' };
      // Not awaited: a replica that is killed meanwhile reports the failure twice, rather than never.
      const marked = request('PATCH', `${jobs}/${nameOf(newest)}`, { metadata: { annotations } });
      waitUntil(marked.catch((error) => log.error(fault(error), 'the Job could not be marked as reported')));
      return { failure: message };
    }
    if (newest === undefined || end === 'Failed') {
      const created = jobOf(job, prefix, hash, newest === undefined ? 0 : attemptOf(newest) + 1);
      try {
        await request('POST', jobs, created);
        log.info({ job: nameOf(created) }, 'Job created');
      } catch (error) {
        if (!isStatus(error, 409)) {
          throw error;
        }
        const present = await request('GET', `${jobs}/${nameOf(created)}`);
        if (fieldAt(present, 'metadata', 'labels', keyLabel) !== hash) {
          throw new Error(`Job ${namespace}/${nameOf(created)} exists, and is not of this work: delete it`);
        }
        log.debug({ job: nameOf(created) }, 'another replica created the Job');
      }
    }
    return 'running';
  };
}

/** Options of jobs that run in this process, for development and tests. */
export interface InProcessJobsOptions {
  /** Does the work, again after a restart. Users read the message of a `HandlerFailure`. A stop aborts `signal`. */
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
      const isIntended = error instanceof HandlerFailure;
      states.set(key, { failure: isIntended ? error.message : 'the work failed: see the log of the extension' });
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
   * Starts a job, blocks while it runs, and is done once it is. A failed job is a Failure once, on Kubernetes with the
   * termination message of its Pod; the next call starts it again.
   *
   * @throws {Error} when the API server refuses to create, get, list or patch Jobs, or to list Pods.
   */
  answer<Response>(context: BlockingContext<Response>, job: Job): Promise<Answer<Response>>;
}

/**
 * A set of jobs: Jobs on Kubernetes, which replicas and restarts of the extension share, or, with `run`, in this process.
 * Nothing is requested before the first call.
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
      // Any other key would be other work at each call.
      if (!isText(job.key)) {
        throw new TypeError(`key: ${inspect(job.key).slice(0, 100)} is not a text that identifies the work`);
      }
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
