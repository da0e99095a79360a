import type { Express } from 'express';
import type { Registry } from 'prom-client';
import type { AdmissionRequest } from '../../kubernetes/index.ts';
import type { Admission, AdmissionOutcome, ClusterKnowledge } from '../../policy/index.ts';
import {
  createApplication,
  createBody,
  noSuchPath,
  type RunningServer,
  type ServerContext,
  type ServerOptions,
  startServer,
} from '../../server/index.ts';
import type { FeatureGates } from './feature-gates.ts';
import { createReviewMetrics, metricsPrefix, type Webhook } from './metrics.ts';
import { type Convert, conversion, review } from './review.ts';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
  impact: '/impact',
} as const satisfies Record<Webhook, string>;

export interface Decisions {
  featureGates: FeatureGates;
  admission: Admission;
  /** Without it: 404. */
  convert?: Convert | undefined;
  /** The facts for one request, with the objects that it names; undefined if none had to be read. Never rejects. */
  refresh?: ((request: AdmissionRequest) => Promise<ClusterKnowledge> | undefined) | undefined;
  /** Says which Machines a write replaces. Never rejects. Without it: 404. */
  impact?: ((request: AdmissionRequest) => Promise<AdmissionOutcome>) | undefined;
}

/** Responds to AdmissionReviews and ConversionReviews. */
export function createReviewApplication(
  { admission, convert, refresh, impact, featureGates }: Decisions,
  server: ServerContext,
): Express {
  const context = { ...server, metrics: createReviewMetrics(server.metrics.registry, featureGates) };
  const body = createBody(context.limits, context.inFlight);
  const validate =
    refresh === undefined
      ? admission.validate
      : async (request: AdmissionRequest) => admission.validate(request, await refresh(request));
  const routes = {
    [webhookPaths.mutate]: review('mutate', admission.mutate, context),
    [webhookPaths.validate]: review('validate', validate, context),
    ...(convert && { [webhookPaths.convert]: conversion(convert, context) }),
    ...(impact && { [webhookPaths.impact]: review('impact', impact, context) }),
  };
  const application = createApplication();
  for (const [path, route] of Object.entries(routes)) {
    application.post(path, body, route);
  }
  const paths = Object.keys(routes);
  application.use(noSuchPath(paths, `no such path; the webhooks are ${paths.join(', ')}`), context.refuse);
  return application;
}

export interface WebhookOptions extends Omit<ServerOptions, 'application' | 'name' | 'metricsPrefix'>, Decisions {
  /** Adds further metrics; `prefix` is the prefix of metric names. */
  addMetrics?: ((registry: Registry, prefix: string) => void) | undefined;
}

/** Starts the webhook server. @throws {ListenError | ClientCaError} */
export function startWebhook(options: WebhookOptions): Promise<RunningServer> {
  return startServer({
    ...options,
    name: 'webhook',
    metricsPrefix,
    application(context) {
      options.addMetrics?.(context.metrics.registry, metricsPrefix);
      return createReviewApplication(options, context);
    },
  });
}
