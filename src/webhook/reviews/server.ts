import type { Registry } from 'prom-client';
import { type RunningServer, type ServerOptions, startServer } from '../../server/index.ts';
import type { FeatureGates } from './feature-gates.ts';
import { createHandler, type Decisions } from './handler.ts';
import { createReviewMetrics, metricsPrefix } from './metrics.ts';

export interface WebhookOptions extends Omit<ServerOptions, 'handler' | 'name' | 'metricsPrefix' | 'main'>, Decisions {
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
  const { admission, convert, refresh, impact, webhook, featureGates, addMetrics, ...server } = options;
  const { port, ...running } = await startServer({
    ...server,
    main: webhook,
    name: 'webhook',
    metricsPrefix,
    handler({ metrics: { registry }, log }) {
      const metrics = createReviewMetrics(registry, featureGates);
      addMetrics?.(registry, metricsPrefix);
      return createHandler({ admission, convert, refresh, impact }, { metrics, log });
    },
  });
  return { webhookPort: port, ...running };
}
