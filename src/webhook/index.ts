export type { Convert } from './convert.ts';
export { type FeatureGates, knownFeatureGates, parseFeatureGates } from './feature-gates.ts';
export { webhookPaths } from './routes.ts';
export { type RunningWebhook, startWebhook, type WebhookOptions } from './start.ts';
