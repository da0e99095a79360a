import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createReviewMetrics } from '../../../src/webhook/reviews/metrics.ts';

test('each feature gate is reported as on or off, and conversions are counted from the start', async () => {
  const registry = new Registry();
  createReviewMetrics(registry, { RuntimeSDK: true, Other: false });
  const samples = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples).toEqual([
    'extensionconfig_webhook_conversions_total{result="success"} 0',
    'extensionconfig_webhook_conversions_total{result="failure"} 0',
    'extensionconfig_webhook_feature_enabled{name="RuntimeSDK"} 1',
    'extensionconfig_webhook_feature_enabled{name="Other"} 0',
  ]);
});
