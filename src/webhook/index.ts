export { createDecide, type Reply } from './decide.ts';
export { type FeatureGates, knownFeatureGates, parseFeatureGates } from './feature-gates.ts';
export type { SideThreadTask } from './side-thread.ts';
export { type RunningWebhook, startWebhook, type WebhookOptions } from './start.ts';
export { webhookPaths } from './webhook.ts';
