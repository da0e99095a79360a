import type { Express } from 'express';
import type { AdmissionRequest } from '../../kubernetes/index.ts';
import type { Admission, AdmissionOutcome, ClusterKnowledge } from '../../policy/index.ts';
import { createApplication, createBody, noSuchPath, type ServerContext } from '../../server/index.ts';
import { type Convert, conversion } from './conversion.ts';
import type { FeatureGates } from './feature-gates.ts';
import { createReviewMetrics, type Webhook } from './metrics.ts';
import { review } from './review.ts';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
  impact: '/impact',
} as const satisfies Record<Webhook, string>;

/** How reviews are decided. */
export interface Decisions {
  featureGates: FeatureGates;
  admission: Admission;
  /** Converts the objects of a ConversionReview. Without it: 404. */
  convert?: Convert | undefined;
  /**
   * The facts for one request, with the objects that it names; undefined if none had to be read. Never rejects. Without
   * it, what is known about the cluster may be older than the request.
   */
  refresh?: ((request: AdmissionRequest) => Promise<ClusterKnowledge> | undefined) | undefined;
  /** Says which Machines a write of a Cluster or a ClusterClass replaces. Never rejects. Without it: 404. */
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
  const paths: string[] = [webhookPaths.mutate, webhookPaths.validate];
  const application = createApplication();
  application.post(webhookPaths.mutate, body, review('mutate', admission.mutate, context));
  application.post(webhookPaths.validate, body, review('validate', validate, context));
  if (convert !== undefined) {
    paths.push(webhookPaths.convert);
    application.post(webhookPaths.convert, body, conversion(convert, context));
  }
  if (impact !== undefined) {
    paths.push(webhookPaths.impact);
    application.post(webhookPaths.impact, body, review('impact', impact, context));
  }
  application.use(noSuchPath(paths, `no such path; the webhooks are ${paths.join(', ')}`), context.refuse);
  return application;
}
