import type { Registry } from 'prom-client';
import { type RunningServer, type ServerOptions, startServer } from '../../server/index.ts';
import { createReviewApplication, type Decisions } from './application.ts';
import { metricsPrefix } from './metrics.ts';

export interface WebhookOptions
  extends Omit<ServerOptions, 'application' | 'name' | 'metricsPrefix' | 'main'>,
    Decisions {
  webhook: ServerOptions['main'];
  /** Adds further metrics; `prefix` is the prefix of metric names. */
  addMetrics?: ((registry: Registry, prefix: string) => void) | undefined;
}

export interface RunningWebhook extends Omit<RunningServer, 'port'> {
  webhookPort: number;
}

/** Starts the webhook server. @throws {ListenError | ClientCaError} */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const { admission, convert, refresh, impact, featureGates, webhook, addMetrics, ...server } = options;
  const { port, ...running } = await startServer({
    ...server,
    main: webhook,
    name: 'webhook',
    metricsPrefix,
    application(context) {
      addMetrics?.(context.metrics.registry, metricsPrefix);
      return createReviewApplication({ admission, convert, refresh, impact, featureGates }, context);
    },
  });
  return { webhookPort: port, ...running };
}
