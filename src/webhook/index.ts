export { createDecide, type Reply } from './reviews/decide.ts';
export { type FeatureGates, knownFeatureGates, parseFeatureGates } from './reviews/feature-gates.ts';
export type { SideThreadTask } from './reviews/side-thread.ts';
export { type RunningWebhook, startWebhook, type WebhookOptions } from './reviews/start.ts';
export { webhookPaths } from './reviews/webhook.ts';
