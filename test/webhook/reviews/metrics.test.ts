import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createReviewMetrics } from '../../../src/webhook/reviews/metrics.ts';

test('what alerts add up is there before the first event, and each feature gate is reported', async () => {
  const registry = new Registry();
  createReviewMetrics(registry, { RuntimeSDK: true, Other: false });
  const samples = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples).toEqual([
    'extensionconfig_webhook_reviews_total{webhook="mutate",operation="UNKNOWN",verdict="malformed"} 0',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="UNKNOWN",verdict="malformed"} 0',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="CREATE",verdict="denied"} 0',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="UPDATE",verdict="denied"} 0',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="DELETE",verdict="denied"} 0',
    'extensionconfig_webhook_conversions_total{result="success"} 0',
    'extensionconfig_webhook_conversions_total{result="failure"} 0',
    'extensionconfig_webhook_feature_enabled{name="RuntimeSDK"} 1',
    'extensionconfig_webhook_feature_enabled{name="Other"} 0',
  ]);
});
