import { createHash } from 'node:crypto';
import type { KubernetesClient } from '../../../kubernetes/client/index.ts';
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
import { checkNumber } from '../handlers/options.ts';
import { fault } from '../handlers/thrown.ts';
import type { Job, RunJob } from './job.ts';

type Names = Readonly<Record<string, string>>;

/** A container of a Pod (core/v1); what is not named here is as in Kubernetes, and not checked. */
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
  /**
   * `spec` of the Jobs (batch/v1), with the Pod that does the work: its `backoffLimit` and `activeDeadlineSeconds` decide
   * about retries and time.
   */
  template: JobSpec;
  /** Tells several sets of one handler with the same template apart. Default: none. */
  name?: string | undefined;
  /** Default: the cluster in which the extension runs, or the kubeconfig in use. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** After how many seconds a caller asks again while its Job runs. Default: 10. */
  retryAfterSeconds?: number | undefined;
  /**
   * How long a Job is kept after its end, in seconds: as long as someone may ask for its result. Default: 86,400 (a day).
   */
  keepSeconds?: number | undefined;
}

const keyLabel = 'cluster-api-extension/key';
const attemptLabel = 'cluster-api-extension/attempt';
const keyAnnotation = 'cluster-api-extension/key';
const reportedAnnotation = 'cluster-api-extension/failure-reported';
const clusterLabel = 'cluster.x-k8s.io/cluster-name';

/** Longest message of a failure, in characters: the limit for termination messages of Kubernetes. */
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

/** Jobs that run on Kubernetes. @throws {RangeError | TypeError} as `createJobs`. */
export function kubernetesJobs(options: KubernetesJobsOptions): RunJob {
  const { namespace, template, name: setName, retryAfterSeconds = 10, keepSeconds = 86_400 } = options;
  checkNumber('keepSeconds', keepSeconds, { min: retryAfterSeconds, isWhole: true });
  // Such as that of a variable of the environment that is not set.
  const [problem] = dns1123LabelProblems(String(namespace));
  if (problem !== undefined || namespace === undefined) {
    throw new TypeError(`namespace: ${JSON.stringify(namespace)} ${problem ?? 'is needed'}`);
  }
  if (objectsAt(template as unknown as Json, 'template', 'spec', 'containers').length === 0) {
    throw new TypeError(
      'template: spec of a Job is needed, with template.spec.containers of the Pod that does the work',
    );
  }
  // Only for extensions that talk to an API server, and not in a call, which it would block.
  const library = import('../../../kubernetes/client/index.ts');
  let connection: KubernetesClient | undefined;
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

  async function failureOf(request: KubernetesClient['request'], job: JsonObject): Promise<string> {
    const query = new URLSearchParams({ labelSelector: `batch.kubernetes.io/job-name=${nameOf(job)}`, limit: '20' });
    const { items } = await request('GET', `/api/v1/namespaces/${namespace}/pods?${query}`);
    const messages = itemsAt(items).map(terminationMessage);
    const message = messages.find((one) => one !== undefined) ?? 'the work failed: see the log of its Job';
    return message.slice(0, maxMessageLength);
  }

  return async ({ log, stopping, subject, waitUntil }, job) => {
    const { connect, loadKubeConfig, shortRetries, isStatus } = await library;
    if (connection === undefined) {
      const { kubeconfig, context } = options;
      const config = await loadKubeConfig({ kubeconfig, context });
      // Another call may have connected meanwhile.
      connection ??= connect(config, stopping, shortRetries);
    }
    const client = connection;
    const request: KubernetesClient['request'] = (...values) =>
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
