export { createReviewApplication, startWebhook, type WebhookOptions, webhookPaths } from './reviews/application.ts';
export * from './reviews/feature-gates.ts';
