export { createReviewApplication, webhookPaths } from './reviews/application.ts';
export {
  type FeatureGates,
  inPlaceFeatureGate,
  knownFeatureGates,
  parseFeatureGates,
} from './reviews/feature-gates.ts';
export { type RunningWebhook, startWebhook, type WebhookOptions } from './reviews/server.ts';
