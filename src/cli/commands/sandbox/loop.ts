import type { Logger } from 'pino';
import { orAborted } from '../../../base/index.ts';
import type { ControllerPace } from '../../../controller/index.ts';
import { createSampleExtension } from '../../../extension/sample/index.ts';
import { connect } from '../../../kubernetes/client/index.ts';
import { version } from '../../framework/version.ts';
import { reachedAtAnnotation } from '../resolve-flag.ts';
import { extensionCertificates, extensionName, extensionServices, type RunningSandbox, stopping } from './start.ts';

/** Cluster API's ten minutes are too long for trying things out. */
const pace: Partial<ControllerPace> = {
  resyncMs: 3_000,
  secretMs: 1_000,
  queue: { minIntervalMs: 500, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 3_000 },
};

/** Starts the sample extension on loopback, with the certificate in its Secret. @throws {FailureError} */
async function startExtension(sandbox: RunningSandbox, log: Logger, signal: AbortSignal) {
  const certificates = await extensionCertificates(sandbox, signal);
  // Only its Service can be found, so nobody could probe it.
  const options = { host: '127.0.0.1', port: 0, healthPort: 'none', version, processMetrics: false } as const;
  const { port, stop } = await createSampleExtension({ ...options, certificates, log }).start();
  // For calls from this machine: a Service in the sandbox has no address.
  const annotations = { [reachedAtAnnotation]: `127.0.0.1:${port}` };
  const service = `${extensionServices}/${extensionName}`;
  await connect(sandbox.config, signal).request('PATCH', service, { metadata: { annotations } });
  return { port, stop: () => stop(stopping) };
}

/** Starts the sample extension, then the controller; the log says what could not be started, and then `port` is undefined. */
export async function startLoop(sandbox: RunningSandbox, log: Logger, signal: AbortSignal) {
  const quiet = log.child({}, { level: log.isLevelEnabled('warn') ? 'warn' : log.level });
  const stops: (() => Promise<void>)[] = [];
  let port: number | undefined;
  const resolve = (host: string) =>
    host === `${extensionName}.${extensionName}.svc:443` && port !== undefined
      ? { host: '127.0.0.1', port }
      : undefined;
  try {
    const extension = await startExtension(sandbox, quiet, signal);
    port = extension.port;
    stops.push(extension.stop);
    signal.throwIfAborted();
    // Large, and not needed for the sandbox to be ready.
    const { startController } = await import('../../../controller/index.ts');
    const controller = startController({
      kubeConfig: sandbox.config,
      log: quiet,
      extensions: { resolve },
      pace,
    });
    stops.push(() => controller.stop());
    await orAborted(controller.synced, signal);
  } catch (error) {
    if (!signal.aborted) {
      log.error({ problem: (error as Error).message }, 'the sandbox continues without the parts that could not start');
    }
  }
  return {
    port,
    async stop() {
      for (const stop of stops.toReversed()) {
        await stop();
      }
    },
  };
}
