import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { group } from '../../api/index.ts';
import { FailureError, version } from '../../cli/index.ts';
import { connect, type Informer, startInformer } from '../../cluster/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { type CertificateSource, secretCertificates } from '../../server/index.ts';
import { ellipticEntropy } from '../../x509/index.ts';
import type { ExtensionThreadData, ExtensionThreadMessage } from './extension-thread.ts';
import { runCertsCommand } from './webhook.ts';

/** Name of the sample extension's namespace, and of everything in it. */
export const extensionName = 'sample-extension';
const namespace = extensionName;
const labels = { 'app.kubernetes.io/name': extensionName };
const secretName = `${extensionName}-tls`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;

/** The annotation on its Service that says where it listens, in the format of `--resolve`. */
const reachedAtAnnotation = 'extensionconfig-webhook/reached-at';

/** Maximum memory of the extension's thread, in MiB. */
const maxHeapMib = 256;
/** How long to wait before restarting an extension that ended by itself, in milliseconds. */
const restartDelayMs = 1_000;

/** Registers the sample extension. Its CA is injected from the Secret that `startExtension` creates. */
export async function registerExtension(config: KubeConfig): Promise<void> {
  const cluster = connect(config, new AbortController().signal);
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  await cluster.request('POST', `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: extensionName, labels },
    spec: { selector: labels, ports: [{ name: 'hooks', port: 443, targetPort: 'hooks' }] },
  });
  await cluster.request('POST', `/apis/${group}/v1beta2/extensionconfigs`, {
    apiVersion: `${group}/v1beta2`,
    kind: 'ExtensionConfig',
    metadata: {
      name: extensionName,
      annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${namespace}/${secretName}` },
    },
    spec: { clientConfig: { service: { namespace, name: extensionName, port: 443 } }, namespaceSelector: {} },
  });
}

/** Creates the Secrets of the extension and its Deployment. */
async function deploy(config: KubeConfig, kubeconfigFile: string, signal: AbortSignal): Promise<void> {
  const secrets = ['--secret', secretName, '--ca-secret', `${extensionName}-ca`];
  const where = ['--kubeconfig', kubeconfigFile, '--namespace', namespace, '--service', extensionName];
  const { code, output } = await runCertsCommand(['bootstrap', ...where, ...secrets], signal, ellipticEntropy);
  if (code !== 0) {
    throw new FailureError(`no certificate for the sample extension: ${output.trim()}`);
  }
  const image = `extensionconfig-webhook:${version}`;
  await connect(config, signal).request('POST', deployments, {
    metadata: { name: extensionName, labels, annotations: { 'extensionconfig-webhook/runs-in-sandbox': 'true' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'extension',
              image,
              args: ['sample-extension', '--cert-dir=/certificates'],
              ports: [{ name: 'hooks', containerPort: 9443 }],
              volumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
            },
          ],
          volumes: [{ name: 'certificates', secret: { secretName } }],
        },
      },
    },
  });
}

/** A thread with the extension, which is listening. */
interface RunningThread {
  port: number;
  /** Resolves when the thread has ended, even by itself. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

const threadModule = new URL(`./extension-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * @param certificates of the extension, which are passed on to the thread.
 * @param signal ends the thread, even while it starts.
 */
async function startThread(
  module: URL,
  data: ExtensionThreadData,
  certificates: CertificateSource,
  log: Logger,
  signal: AbortSignal,
): Promise<RunningThread> {
  const worker = new Worker(module, {
    workerData: data,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    // The thread must not inherit the program's own flags.
    argv: [],
  });
  const listening = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  worker.on('message', (message: ExtensionThreadMessage) => {
    if ('listening' in message) {
      listening.resolve(message.listening);
    } else if ('failed' in message) {
      listening.reject(new FailureError(message.failed));
    } else {
      const { level, msg, ...fields } = JSON.parse(message.log) as Record<string, unknown>;
      log[level === 'warn' ? 'warn' : 'error'](fields, String(msg));
    }
  });
  worker.on('error', (error) => listening.reject(error));
  worker.on('exit', () => {
    certificates.stop();
    listening.reject(new FailureError('its thread ended'));
    ended.resolve();
  });
  const stop = async () => {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  };
  signal.addEventListener('abort', stop);
  void certificates.start((news) => worker.postMessage(news));
  try {
    return { port: await listening.promise, ended: ended.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The desired state of the extension, according to its Deployment: a new value requires a restart, undefined means that
 * it must not run.
 */
function wantedBy(deployment: JsonObject | undefined): string | undefined {
  const spec = deployment !== undefined && isJsonObject(deployment.spec) ? deployment.spec : {};
  return Number(spec.replicas ?? 0) > 0 ? JSON.stringify(spec.template ?? null) : undefined;
}

function statusOf(deployment: JsonObject, isRunning: boolean, problem: string | undefined): JsonObject {
  const spec = isJsonObject(deployment.spec) ? deployment.spec : {};
  const metadata = isJsonObject(deployment.metadata) ? deployment.metadata : {};
  const wanted = Number(spec.replicas ?? 0);
  const ready = isRunning ? 1 : 0;
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  const condition = (type: string, holds: boolean, reason: string, message: string): JsonObject => ({
    ...{ type, status: holds ? 'True' : 'False', reason, message },
    ...{ lastUpdateTime: now, lastTransitionTime: now },
  });
  const about = problem ?? 'the sandbox runs one pod of this Deployment, however many replicas it asks for';
  const available = ready > 0 || wanted === 0;
  return {
    observedGeneration: metadata.generation ?? 1,
    replicas: ready,
    readyReplicas: ready,
    updatedReplicas: ready,
    availableReplicas: ready,
    conditions: [
      condition('Available', available, `MinimumReplicas${available ? 'Available' : 'Unavailable'}`, about),
      ready === wanted
        ? condition('Progressing', true, 'NewReplicaSetAvailable', about)
        : // `kubectl rollout status` must not wait for pods that never come.
          condition('Progressing', ready === 0, ready === 0 ? 'ReplicaSetUpdated' : 'ProgressDeadlineExceeded', about),
    ],
  };
}

/** The sample extension of a sandbox, once it has started listening. */
export interface RunningSampleExtension {
  /** Its port on loopback, whenever it is running. */
  port: number;
  stop(): Promise<void>;
}

/**
 * Starts the sample extension as a separate server, and keeps it in the state that its Deployment requires, like a
 * kubelet: with no replicas it is stopped, with a new template restarted.
 *
 * @param signal ends the start.
 * @param module what runs in the thread; tests pass another.
 * @throws {FailureError} when it cannot be started; the reason of `signal`.
 */
export async function startExtension(
  { config, kubeconfigFile }: { config: KubeConfig; kubeconfigFile: string },
  log: Logger,
  signal: AbortSignal,
  module = threadModule,
): Promise<RunningSampleExtension> {
  await deploy(config, kubeconfigFile, signal);
  const stopping = new AbortController();
  const cluster = connect(config, stopping.signal);
  const first = Promise.withResolvers<number>();
  const data = { port: 0, version };
  let thread: RunningThread | undefined;
  let runs: string | undefined;
  let problem: string | undefined;
  let work: Promise<void> = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;

  async function stopThread(): Promise<void> {
    const stopped = thread;
    thread = undefined;
    runs = undefined;
    await stopped?.stop();
  }

  async function startFor(wanted: string): Promise<void> {
    try {
      const started = await startThread(
        module,
        data,
        secretCertificates(config, namespace, secretName),
        log,
        stopping.signal,
      );
      // It keeps its first address, so that the Service need not be resolved again.
      data.port = started.port;
      thread = started;
      runs = wanted;
      problem = undefined;
      first.resolve(started.port);
      void started.ended.then(() => {
        if (thread === started && !stopping.signal.aborted) {
          thread = undefined;
          runs = undefined;
          log.error('the sample extension exited and is being restarted');
          again();
        }
      });
    } catch (error) {
      if (stopping.signal.aborted) {
        return;
      }
      problem = (error as Error).message;
      first.reject(new FailureError(`the sample extension could not start: ${problem}`));
      log.error({ problem }, 'the sample extension could not start; retrying');
      again();
    }
  }

  async function follow(): Promise<void> {
    if (stopping.signal.aborted) {
      return;
    }
    const deployment = informer.get(`${namespace}/${extensionName}`);
    const wanted = wantedBy(deployment);
    if (wanted !== runs) {
      await stopThread();
      if (wanted !== undefined) {
        await startFor(wanted);
      }
    }
    if (deployment !== undefined) {
      const status = statusOf(deployment, thread !== undefined, problem);
      if (!isSameStatus(deployment.status, status)) {
        await cluster.request('PATCH', `${deployments}/${extensionName}/status`, { status });
      }
    }
  }

  function enqueue(): void {
    work = work.then(follow).catch((error: unknown) => {
      if (!stopping.signal.aborted) {
        log.warn({ problem: (error as Error).message }, 'the Deployment of the sample extension could not be watched');
        again();
      }
    });
  }

  function again(): void {
    clearTimeout(retry);
    retry = setTimeout(enqueue, restartDelayMs);
  }

  const informer: Informer = startInformer(config, {
    path: deployments,
    resource: 'deployments.apps',
    fieldSelector: `metadata.name=${extensionName}`,
    onChange: enqueue,
  });

  async function stop(): Promise<void> {
    stopping.abort();
    informer.stop();
    clearTimeout(retry);
    await work;
    await stopThread();
  }
  const onAbort = () => first.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    const port = await first.promise;
    // For calls from this machine: a Service in the sandbox has no address.
    const annotations = { [reachedAtAnnotation]: `127.0.0.1:${port}` };
    const service = `/api/v1/namespaces/${namespace}/services/${extensionName}`;
    await cluster.request('PATCH', service, { metadata: { annotations } });
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Whether two statuses differ only in times. */
function isSameStatus(a: Json | undefined, b: JsonObject): boolean {
  const text = (value: Json | undefined) =>
    JSON.stringify([
      ...(isJsonObject(value)
        ? ['observedGeneration', 'replicas', 'readyReplicas'].map((field) => value[field] ?? 0)
        : []),
      isJsonObject(value) && Array.isArray(value.conditions)
        ? value.conditions.map((entry) =>
            isJsonObject(entry) ? [entry.type, entry.status, entry.reason, entry.message] : null,
          )
        : null,
    ] as Json);
  return text(a) === text(b);
}
