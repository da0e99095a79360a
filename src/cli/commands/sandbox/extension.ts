import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { orAborted } from '../../../base/index.ts';
import { createSampleExtension } from '../../../extension/sample/index.ts';
import { connect, startInformer, watchServingSecret } from '../../../kubernetes/client/index.ts';
import { isSame, textAt, timeText } from '../../../kubernetes/index.ts';
import { secretCertificates } from '../../../server/index.ts';
import { version } from '../../framework/version.ts';
import { reachedAtAnnotation } from '../resolve-flag.ts';
import { deploy, deployments, extensionName, secretName, statusOf, wantedBy } from './extension-deployment.ts';

const retryDelayMs = 1_000;
/** How long calls in flight may take when the extension is stopped, in milliseconds. */
const stopping = { graceMs: 0, timeoutMs: 1_000 };

export interface RunningSampleExtension {
  /** Its port on loopback, whenever it is running; undefined until its Deployment first has replicas. */
  readonly port: number | undefined;
  stop(): Promise<void>;
}

/** Starts the sample extension, and keeps it as its Deployment requires, until the signal. @throws {FailureError} */
export async function startExtension(
  { config, kubeconfigFile }: { config: KubeConfig; kubeconfigFile: string },
  log: Logger,
  signal: AbortSignal,
): Promise<RunningSampleExtension> {
  await deploy(config, kubeconfigFile, signal);
  const cluster = connect(config, signal);
  /** 0 until the first start, which lets the system choose it. Later starts keep it, as does the Service's annotation. */
  let port = 0;
  let running: { template: string; stop(): Promise<void> } | undefined;
  let work: Promise<void> = Promise.resolve();
  let retry: NodeJS.Timeout | undefined;

  async function startFor(template: string): Promise<void> {
    const certificates = secretCertificates(
      `${extensionName}/${secretName}`,
      watchServingSecret(config, extensionName, secretName),
    );
    // Only its Service can be found, so nobody could probe it.
    const options = { host: '127.0.0.1', port, healthPort: 'none', version, processMetrics: false } as const;
    const server = await createSampleExtension({ ...options, certificates, log }).start();
    running = { template, stop: () => server.stop(stopping) };
    if (port === 0) {
      port = server.port;
      // For calls from this machine: a Service in the sandbox has no address.
      const annotations = { [reachedAtAnnotation]: `127.0.0.1:${port}` };
      const service = `/api/v1/namespaces/${extensionName}/services/${extensionName}`;
      await cluster.request('PATCH', service, { metadata: { annotations } });
    }
  }

  async function stopServer(): Promise<void> {
    const server = running;
    running = undefined;
    await server?.stop();
  }

  async function follow(): Promise<void> {
    signal.throwIfAborted();
    const deployment = informer.get(`${extensionName}/${extensionName}`);
    const wanted = wantedBy(deployment);
    let problem: Error | undefined;
    if (wanted !== running?.template) {
      await stopServer();
      if (wanted !== undefined) {
        await startFor(wanted).catch((error: Error) => {
          problem = error;
        });
      }
    }
    if (deployment !== undefined) {
      const statusAt = (time: string) => statusOf(deployment, running !== undefined, problem?.message, time);
      const lastTime = textAt(deployment, 'status', 'conditions', 0, 'lastUpdateTime');
      if (!isSame(deployment.status, statusAt(lastTime))) {
        const status = statusAt(timeText(new Date()));
        await cluster.request('PATCH', `${deployments}/${extensionName}/status`, { status });
      }
    }
    if (problem !== undefined) {
      throw problem;
    }
  }

  function enqueue(): void {
    work = work.then(follow).catch((error: Error) => {
      if (!signal.aborted) {
        log.warn({ problem: error.message }, 'the sample extension does not follow its Deployment; retrying');
        clearTimeout(retry);
        retry = setTimeout(enqueue, retryDelayMs);
      }
    });
  }

  const informer = startInformer(config, {
    path: deployments,
    resource: 'deployments.apps',
    onChange: enqueue,
  });

  async function stop(): Promise<void> {
    informer.stop();
    await work;
    clearTimeout(retry);
    await stopServer();
  }
  try {
    await orAborted(informer.synced, signal);
    await work;
    signal.throwIfAborted();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get port() {
      return port === 0 ? undefined : port;
    },
    stop,
  };
}
