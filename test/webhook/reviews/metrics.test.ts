import { afterEach, expect, test } from 'vitest';
import { start, stopAll } from '../../server/running.ts';

afterEach(stopAll);

test('what alerts add up is there before the first event, and each feature gate is reported', async () => {
  const { health } = await start({ featureGates: { RuntimeSDK: true, Other: false } });
  const text = await (await fetch(`${health}/metrics`)).text();
  const samples = text
    .split('\n')
    .filter((line) => /^\w+_(reviews_total|conversions_total|feature_enabled)\{/.test(line));
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
