import type { Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import type { FeatureGates } from './feature-gates.ts';

export type Webhook = 'mutate' | 'validate' | 'convert' | 'impact';

export const metricsPrefix = 'extensionconfig_webhook_';

/** Upper bounds in seconds: a decision takes well under a millisecond, a large object some; 10 s is the API server's default timeout. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

/** Creates the metrics of reviews. Those that alerts add up are there before the first event. */
export function createReviewMetrics(registry: Registry, featureGates: FeatureGates) {
  const { counter, counterOf, gauge, histogram } = metricsIn(registry, metricsPrefix);
  const reviews = counter(
    'reviews_total',
    'Admission reviews answered, by webhook, operation and verdict (allowed, warned, denied, malformed).',
    ['webhook', 'operation', 'verdict'],
  );
  for (const webhook of ['mutate', 'validate']) {
    reviews.inc({ webhook, operation: 'UNKNOWN', verdict: 'malformed' }, 0);
  }
  for (const operation of ['CREATE', 'UPDATE', 'DELETE']) {
    reviews.inc({ webhook: 'validate', operation, verdict: 'denied' }, 0);
  }
  const denials = counter('rule_denials_total', 'Reviews that a rule denied, by rule.', ['rule']);
  const warnings = counter('rule_warnings_total', 'Reviews that a rule warned about, by rule.', ['rule']);
  const withoutFacts = counter(
    'reviews_without_facts_total',
    'Reviews decided without facts about a kind of objects in the cluster, by kind. Needs --cluster-facts.',
    ['kind'],
  );
  const durations = histogram(
    'request_duration_seconds',
    'Time from the header of a request to its response, by webhook. Includes receiving the body.',
    ['webhook'],
    latencyBuckets,
  );
  const conversions = counterOf(
    'conversions_total',
    'ConversionReviews answered, by result: success or failure (an object cannot be read or written in a version).',
    'result',
    ['success', 'failure'],
  );
  const gates = gauge('feature_enabled', 'Whether a feature gate is on (1) or off (0).', ['name']);
  for (const [name, enabled] of Object.entries(featureGates)) {
    gates.set({ name }, enabled ? 1 : 0);
  }
  return { reviews, denials, warnings, withoutFacts, durations, conversions };
}

export type ReviewMetrics = ReturnType<typeof createReviewMetrics>;
