import { askExtension } from '../../runtimehooks/client/index.ts';
import type { Worker, WorkerContext } from './worker.ts';

/** Calls Discovery on extensions and inspects their certificates, for metrics. Writes nothing. */
export function createObserveWorker({ client, resolve, metrics, pace }: WorkerContext): Worker {
  return {
    fingerprintOf: () => '',
    async run(config, signal) {
      const { name } = config.metadata;
      const { discovered, latenciesMs, tls } = await askExtension(config, { client, resolve, signal });
      client.disconnect(name);
      signal.throwIfAborted();
      metrics.discovered(name, discovered.ok, (latenciesMs[0] ?? 0) / 1000, tls?.validity?.notAfter);
      // Failing extensions are called as often as the others, since calling them does not repair anything.
      return { result: 'done', againMs: pace.observeMs * (0.9 + Math.random() / 10) };
    },
    forget(name) {
      client.remove(name);
      metrics.forget(name);
    },
  };
}
