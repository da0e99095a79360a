import { Histogram, Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { FeatureGates } from '../../../src/webhook/index.ts';
import { createReviewMetrics, type ReviewMetrics } from '../../../src/webhook/reviews/metrics.ts';

/** Metrics of reviews, and a function that returns samples by the beginning of their names. */
function fresh(featureGates: FeatureGates = { RuntimeSDK: true }) {
  const registry = new Registry();
  const metrics = createReviewMetrics(registry, featureGates);
  const samples = async (name: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`extensionconfig_webhook_${name}`));
  return { metrics, samples };
}
const outcome: Parameters<ReviewMetrics['review']>[2] = { verdict: 'allowed', deniedBy: [], warnedBy: [] };

test('reviews are counted by webhook, operation and verdict', async () => {
  const { metrics, samples } = fresh();
  for (let turn = 0; turn < 2; turn++) {
    metrics.review('mutate', 'CREATE', outcome, 0.1);
    metrics.review('validate', 'UNKNOWN', { ...outcome, verdict: 'malformed' }, 0.1);
    metrics.review('mutate', 'UPDATE', outcome, 0.1);
  }
  metrics.review('validate', 'UPDATE', { ...outcome, verdict: 'denied', deniedBy: ['a', 'b'], warnedBy: ['c'] }, 0.1);
  expect(await samples('reviews_total')).toEqual([
    'extensionconfig_webhook_reviews_total{webhook="mutate",operation="CREATE",verdict="allowed"} 2',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="UNKNOWN",verdict="malformed"} 2',
    'extensionconfig_webhook_reviews_total{webhook="mutate",operation="UPDATE",verdict="allowed"} 2',
    'extensionconfig_webhook_reviews_total{webhook="validate",operation="UPDATE",verdict="denied"} 1',
  ]);
  expect(await samples('rule_')).toEqual([
    'extensionconfig_webhook_rule_denials_total{rule="a"} 1',
    'extensionconfig_webhook_rule_denials_total{rule="b"} 1',
    'extensionconfig_webhook_rule_warnings_total{rule="c"} 1',
  ]);
  expect(await samples('reviews_without_facts')).toEqual([]);
});

test('each feature gate is reported as on or off', async () => {
  const { samples } = fresh({ RuntimeSDK: true, Other: false });
  expect(await samples('feature_enabled')).toEqual([
    'extensionconfig_webhook_feature_enabled{name="RuntimeSDK"} 1',
    'extensionconfig_webhook_feature_enabled{name="Other"} 0',
  ]);
});

test('nothing is lost or counted twice, however many reviews there are between two scrapes', async () => {
  const { metrics, samples } = fresh();
  const counts = async () => [
    ...(await samples('reviews_total')),
    ...(await samples('request_duration_seconds_count')),
    ...(await samples('request_duration_seconds_sum')),
  ];
  for (let turn = 0; turn < 1000; turn++) {
    metrics.review('validate', 'CREATE', outcome, 0.5);
  }
  const labels = 'webhook="validate",operation="CREATE",verdict="allowed"';
  const after = (count: number) => [
    `extensionconfig_webhook_reviews_total{${labels}} ${count}`,
    `extensionconfig_webhook_request_duration_seconds_count{webhook="validate"} ${count}`,
    `extensionconfig_webhook_request_duration_seconds_sum{webhook="validate"} ${count / 2}`,
  ];
  expect(await counts()).toEqual(after(1000));
  expect(await counts()).toEqual(after(1000));
  metrics.review('validate', 'CREATE', outcome, 0.5);
  expect(await counts()).toEqual(after(1001));
});

test('at most 256 durations wait for their histogram', () => {
  const histogram = { observe: vi.fn<(seconds: number) => void>(), startTimer: () => () => 0 };
  const labels = vi.spyOn(Histogram.prototype, 'labels').mockReturnValue(histogram);
  onTestFinished(() => labels.mockRestore());
  const { metrics } = fresh();
  for (let turn = 1; turn < 256; turn++) {
    metrics.review('validate', 'CREATE', outcome, turn);
  }
  expect(histogram.observe).not.toHaveBeenCalled();
  metrics.review('validate', 'CREATE', outcome, 256);
  expect(histogram.observe).toHaveBeenCalledTimes(256);
});

test('durations are measured per webhook', async () => {
  const { metrics, samples } = fresh();
  metrics.review('mutate', 'CREATE', outcome, 0.25);
  metrics.review('validate', 'CREATE', outcome, 0.5);
  metrics.review('validate', 'CREATE', outcome, 0.5);
  metrics.conversion('Success', 0);
  metrics.conversion('Failure', 4);
  metrics.conversion('Failure', 4);
  const name = 'request_duration_seconds';
  const of = (part: string, webhook: string, value: number) =>
    `extensionconfig_webhook_${name}_${part}{webhook="${webhook}"} ${value}`;
  expect([...(await samples(`${name}_sum`)), ...(await samples(`${name}_count`))]).toEqual([
    of('sum', 'mutate', 0.25),
    of('sum', 'validate', 1),
    of('sum', 'convert', 8),
    of('count', 'mutate', 1),
    of('count', 'validate', 2),
    of('count', 'convert', 3),
  ]);
  const buckets = await samples(`${name}_bucket`);
  expect(
    buckets
      .filter((line) => line.includes('webhook="convert"'))
      .map((line) => /le="([^"]+)".* (\d)$/.exec(line)?.slice(1)),
  ).toEqual(
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5]
      .map((le) => [String(le), '1'])
      .concat([
        ['10', '3'],
        ['+Inf', '3'],
      ]),
  );
  expect(await samples('conversions_total')).toEqual([
    'extensionconfig_webhook_conversions_total{result="success"} 1',
    'extensionconfig_webhook_conversions_total{result="failure"} 2',
  ]);
});

test('every metric exists from the start, at 0', async () => {
  const { metrics, samples } = fresh();
  const results = ['answered', 'refused', 'timeout', 'failed', 'abandoned'];
  expect([...(await samples('conversions_total')), ...(await samples('large_bodies_total'))]).toEqual(
    [
      'conversions_total{result="success"} 0',
      'conversions_total{result="failure"} 0',
      ...results.map((result) => `large_bodies_total{result="${result}"} 0`),
    ].map((line) => `extensionconfig_webhook_${line}`),
  );
  metrics.largeBody('timeout');
  expect(await samples('large_bodies_total')).toContain(
    'extensionconfig_webhook_large_bodies_total{result="timeout"} 1',
  );
  for (const unknown of [['Cluster', 'Secret'], ['Secret'], []] as const) {
    metrics.review('validate', 'CREATE', { ...outcome, knowledge: { unknown, ageMs: undefined } }, 0);
  }
  expect(await samples('reviews_without_facts_total')).toEqual([
    'extensionconfig_webhook_reviews_without_facts_total{kind="Cluster"} 1',
    'extensionconfig_webhook_reviews_without_facts_total{kind="Secret"} 2',
  ]);
});
