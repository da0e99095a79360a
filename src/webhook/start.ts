import type { Admission } from '../admission/index.ts';
import { type RunningServer, type ServerOptions, startServer } from '../server/index.ts';
import { createApplication } from './application.ts';
import type { Convert } from './convert.ts';
import type { FeatureGates } from './feature-gates.ts';
import { createReviewMetrics, metricsPrefix } from './metrics.ts';

/** What the webhook server is made of. */
export interface WebhookOptions extends Omit<ServerOptions, 'application' | 'name' | 'metricsPrefix' | 'main'> {
  admission: Admission;
  convert?: Convert | undefined;
  /** Where the webhooks listen. */
  webhook: ServerOptions['main'];
  featureGates: FeatureGates;
}

/** A webhook server that listens. */
export interface RunningWebhook extends Omit<RunningServer, 'port'> {
  webhookPort: number;
}

/**
 * Starts the webhook server.
 *
 * @throws {ListenError} when a port is taken or not allowed.
 * @throws {ClientCaError} when the client CA file cannot be used.
 */
export async function startWebhook(options: WebhookOptions): Promise<RunningWebhook> {
  const { admission, convert, webhook, featureGates, ...server } = options;
  const { port, ...running } = await startServer({
    ...server,
    main: webhook,
    name: 'webhook',
    metricsPrefix,
    application: (foundation) =>
      createApplication({
        ...foundation,
        admission,
        convert,
        reviews: createReviewMetrics(foundation.metrics.registry, featureGates),
      }),
  });
  return { webhookPort: port, ...running };
}
