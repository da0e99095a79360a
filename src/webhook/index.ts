export {
  type FeatureGates,
  inPlaceFeatureGate,
  knownFeatureGates,
  parseFeatureGates,
} from './reviews/feature-gates.ts';
export { webhookPaths } from './reviews/handler.ts';
export { type RunningWebhook, startWebhook, type WebhookOptions } from './reviews/server.ts';
