import { Worker } from 'node:worker_threads';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { connect, type Informer, startInformer, watchServingSecret } from '../../../kubernetes/client/index.ts';
import { isSame, textAt, timeText } from '../../../kubernetes/index.ts';
import { type CertificateSource, secretCertificates } from '../../../server/index.ts';
import { FailureError } from '../../framework/program.ts';
import { version } from '../../framework/version.ts';
import { reachedAtAnnotation } from '../resolve-flag.ts';
import {
  deploy,
  deployments,
  extensionName,
  namespace,
  secretName,
  statusOf,
  wantedBy,
} from './extension-deployment.ts';
import type { ExtensionThreadData, ExtensionThreadMessage } from './extension-thread.ts';

/** Maximum memory of the extension's thread, in MiB. */
const maxHeapMib = 256;
/** How long to wait before restarting an extension that ended by itself, in milliseconds. */
const restartDelayMs = 1_000;

/** A thread with the extension, which is listening. */
interface RunningThread {
  port: number;
  /** Resolves when the thread has ended, even by itself. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

const threadModule = new URL('./extension-thread.ts', import.meta.url);

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

/** The sample extension of a sandbox, once it has started listening. */
export interface RunningSampleExtension {
  /** Its port on loopback, whenever it is running; undefined until its Deployment first has replicas. */
  readonly port: number | undefined;
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
  const first = Promise.withResolvers<void>();
  /** The port is 0 until the first start, which lets the system choose it. */
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
        secretCertificates(`${namespace}/${secretName}`, (onEvent) =>
          watchServingSecret(config, namespace, secretName, onEvent),
        ),
        log,
        stopping.signal,
      );
      thread = started;
      runs = wanted;
      problem = undefined;
      if (data.port === 0) {
        // It keeps its first address, so that the Service need not be resolved again.
        data.port = started.port;
        // For calls from this machine: a Service in the sandbox has no address.
        const annotations = { [reachedAtAnnotation]: `127.0.0.1:${started.port}` };
        const service = `/api/v1/namespaces/${namespace}/services/${extensionName}`;
        await cluster.request('PATCH', service, { metadata: { annotations } });
      }
      first.resolve();
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
      if (wanted === undefined) {
        // As left by an earlier start of the sandbox.
        first.resolve();
      }
      const statusAt = (time: string) => statusOf(deployment, thread !== undefined, problem, time);
      const lastTime = textAt(deployment, 'status', 'conditions', 0, 'lastUpdateTime');
      if (!isSame(deployment.status, statusAt(lastTime))) {
        const status = statusAt(timeText(new Date()));
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
    await first.promise;
    return {
      get port() {
        return data.port === 0 ? undefined : data.port;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
