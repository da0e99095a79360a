import { type Client, isCallError, probeTls, type Resolve, targetOf } from '../../runtimehooks/client/index.ts';
import type { ControllerMetrics } from './metrics.ts';
import type { Worker } from './worker.ts';

/** The dependencies of the mode `observe`. */
export interface ObserveWorkerOptions {
  client: Client;
  resolve: Resolve | undefined;
  metrics: ControllerMetrics;
  observeMs: number;
}

/** How long inspecting a certificate may take, in ms. */
const probeMs = 10_000;

/** Calls Discovery on extensions and inspects their certificates, for metrics. Writes nothing. */
export function createObserveWorker({ client, resolve, metrics, observeMs }: ObserveWorkerOptions): Worker {
  /** The observed generation of each ExtensionConfig. */
  const seen = new Map<string, string>();
  return {
    async run(config, signal) {
      const { name, uid, generation, deletionTimestamp } = config.metadata;
      seen.set(name, `${uid}/${generation}`);
      if (deletionTimestamp !== undefined) {
        return { result: 'done' };
      }
      const started = performance.now();
      const result = await client.discover(config, { signal });
      client.disconnect(name);
      signal.throwIfAborted();
      metrics.discovered(name, result.ok, (performance.now() - started) / 1000);
      const target = targetOf(config.spec?.clientConfig ?? {}, {
        group: '',
        version: '',
        hook: '',
        timeoutSeconds: 10,
      });
      const tls = isCallError(target)
        ? undefined
        : await probeTls(target, AbortSignal.any([signal, AbortSignal.timeout(probeMs)]), resolve);
      signal.throwIfAborted();
      metrics.serverCertificate(name, tls?.notAfter);
      // Failing extensions are called as often as the others, since calling them does not repair anything.
      return { result: 'done', againMs: observeMs * (0.9 + Math.random() / 10) };
    },
    isSettled: ({ metadata }) => seen.get(metadata.name) === `${metadata.uid}/${metadata.generation}`,
    forget({ metadata }) {
      client.remove(metadata.name);
      seen.delete(metadata.name);
      metrics.forget(metadata.name);
    },
  };
}
