import type { Logger } from 'pino';
import type { ControllerPace } from '../../../controller/index.ts';
import { type RunningSampleExtension, startExtension } from './extension.ts';
import { extensionName } from './extension-deployment.ts';
import type { RunningSandbox } from './start.ts';

/** Cluster API's ten minutes are too long for trying things out. */
const pace: Partial<ControllerPace> = {
  resyncMs: 3_000,
  secretPollMs: 1_000,
  queue: { minIntervalMs: 500, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 3_000 },
};

/** Host and port of the sample extension's Service, as in URLs. */
const serviceHost = `${extensionName}.${extensionName}.svc:443`;

/** The parts of a sandbox besides its API server and the webhook. */
export interface LoopSettings {
  extension: boolean;
  controller: boolean;
}

/** Something that is started and stopped together with the sandbox. */
export interface Loop {
  /** Resolves when everything is running, or has failed to start, which the log then explains. Never rejects. */
  readonly started: Promise<void>;
  /** Where the sample extension listens on this machine; undefined if there is none, it could not start or has no replicas. */
  readonly endpoint: { host: string; port: number } | undefined;
  stop(): Promise<void>;
}

/**
 * Starts the sample extension, and then the controller, so that the extension responds when the controller calls it.
 */
export function startLoop(sandbox: RunningSandbox, settings: LoopSettings, log: Logger): Loop {
  const stopping = new AbortController();
  const quiet = log.child({}, { level: log.isLevelEnabled('warn') ? 'warn' : log.level });
  const stops: (() => Promise<void>)[] = [];
  let extension: RunningSampleExtension | undefined;
  const endpointOf = () => (extension?.port === undefined ? undefined : { host: '127.0.0.1', port: extension.port });

  async function start(): Promise<void> {
    if (settings.extension) {
      extension = await startExtension(sandbox, quiet, stopping.signal);
      stops.push(extension.stop);
    }
    if (settings.controller) {
      stopping.signal.throwIfAborted();
      // Large, and not needed for the sandbox to be ready.
      const { startController } = await import('../../../controller/index.ts');
      const controller = startController({
        kubeConfig: sandbox.config,
        mode: 'discover',
        log: quiet,
        extensions: { resolve: (host) => (host === serviceHost ? endpointOf() : undefined) },
        pace,
      });
      stops.push(() => controller.stop());
      await controller.synced;
    }
  }
  const started = start().catch((error: unknown) => {
    if (!stopping.signal.aborted) {
      log.error({ problem: (error as Error).message }, 'the sandbox continues without the parts that could not start');
    }
  });
  return {
    started,
    get endpoint() {
      return endpointOf();
    },
    async stop() {
      stopping.abort();
      await started;
      for (const stop of stops.toReversed()) {
        await stop();
      }
    },
  };
}
