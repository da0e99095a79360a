import type { Registry } from 'prom-client';
import type { RunningServer, ServerOptions } from '../../server/index.ts';
import { createDecide, type DecideOptions, type SideThread } from './decide.ts';
import type { FeatureGates } from './feature-gates.ts';
import { createSideThread, type SideThreadOptions } from './side-thread.ts';

export interface WebhookOptions
  extends Omit<ServerOptions, 'handler' | 'name' | 'metricsPrefix' | 'main' | 'http2'>,
    Omit<DecideOptions, 'sideThread'> {
  /** The thread that decides on large bodies, by the same policy; if absent, they are decided on the event loop. */
  sideThread?: SideThreadOptions | undefined;
  webhook: ServerOptions['main'];
  featureGates: FeatureGates;
  /** Adds further metrics; `prefix` is the prefix of metric names. */
  addMetrics?: ((registry: Registry, prefix: string) => void) | undefined;
}

export interface RunningWebhook extends Omit<RunningServer, 'port'> {
  webhookPort: number;
}

/** Starts the webhook server. @throws {ListenError | ClientCaError} */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const { admission, convert, probe, refresh, webhook, featureGates, addMetrics, ...server } = options;
  // Only here: the thread for large bodies, which decides by the same code, needs no server.
  const [{ startServer }, { createHandler }, { createReviewMetrics, metricsPrefix }] = await Promise.all([
    import('../../server/index.ts'),
    import('./handler.ts'),
    import('./metrics.ts'),
  ]);
  let sideThread: SideThread | undefined;
  const { port, stop, healthPort } = await startServer({
    ...server,
    main: webhook,
    name: 'webhook',
    metricsPrefix,
    handler({ metrics: { registry, eventsOf }, log }) {
      const metrics = createReviewMetrics(registry, featureGates);
      addMetrics?.(registry, metricsPrefix);
      sideThread = options.sideThread && createSideThread(options.sideThread, metrics.largeBody);
      return createHandler({
        webhooks: convert === undefined ? ['mutate', 'validate'] : ['mutate', 'validate', 'convert'],
        decide: createDecide({ admission, convert, probe, refresh, sideThread }),
        metrics,
        refused: eventsOf('webhook').refused,
        log,
      });
    },
  });
  return {
    webhookPort: port,
    healthPort,
    async stop(stopOptions) {
      await stop(stopOptions);
      await sideThread?.close();
    },
  };
}
