import type { Logger } from 'pino';
import { orAborted } from '../../../base/index.ts';
import type { ControllerPace } from '../../../controller/index.ts';
import { extensionName, startExtension } from './extension.ts';
import type { RunningSandbox } from './start.ts';

/** Cluster API's ten minutes are too long for trying things out. */
const pace: Partial<ControllerPace> = {
  resyncMs: 3_000,
  secretMs: 1_000,
  queue: { minIntervalMs: 500, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 3_000 },
};

/** Host and port of the sample extension's Service, as in URLs. */
const serviceHost = `${extensionName}.${extensionName}.svc:443`;

/**
 * Starts the sample extension, and then the controller, so that the extension responds when the controller calls it. The
 * log says what could not be started; the sandbox goes on without it. Returns the port of the extension on loopback,
 * undefined if it could not be started, and what stops both.
 */
export async function startLoop(sandbox: RunningSandbox, log: Logger, signal: AbortSignal) {
  const quiet = log.child({}, { level: log.isLevelEnabled('warn') ? 'warn' : log.level });
  const stops: (() => Promise<void>)[] = [];
  let port: number | undefined;
  const resolve = (host: string) =>
    host === serviceHost && port !== undefined ? { host: '127.0.0.1', port } : undefined;
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
