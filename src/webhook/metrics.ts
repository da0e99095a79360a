import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AdmissionOutcome } from '../admission/index.ts';
import type { Operation } from '../kubernetes/index.ts';
import type { FeatureGates } from './feature-gates.ts';
import { type SideThreadResult, sideThreadResults } from './side-thread.ts';
import type { Webhook } from './webhook.ts';

/** The metrics of reviews. */
export interface ReviewMetrics {
  review(
    webhook: Webhook,
    operation: Operation | 'UNKNOWN',
    outcome: Pick<AdmissionOutcome, 'verdict' | 'deniedBy' | 'warnedBy' | 'knowledge'>,
    seconds: number,
  ): void;
  /** To be called for each large body that went to the side thread. */
  largeBody(result: SideThreadResult): void;
  conversion(result: 'Success' | 'Failure', seconds: number): void;
}

/** What the names of the metrics begin with. */
export const metricsPrefix = 'extensionconfig_webhook_';
const prefix = metricsPrefix;

/** Upper bounds in seconds: a decision takes well under a millisecond, a large object some; 10 s is the API server's default timeout. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

/** Adds the metrics of reviews, and of the feature gates, to those of the server. */
export function createReviewMetrics(registry: Registry, featureGates: FeatureGates): ReviewMetrics {
  const registers = [registry];
  const reviews = new Counter({
    name: `${prefix}reviews_total`,
    help: 'Admission reviews answered, by webhook, operation and verdict (allowed, warned, denied, malformed).',
    labelNames: ['webhook', 'operation', 'verdict'] as const,
    registers,
  });
  const denials = new Counter({
    name: `${prefix}rule_denials_total`,
    help: 'Reviews that a rule denied, by rule.',
    labelNames: ['rule'] as const,
    registers,
  });
  const warnings = new Counter({
    name: `${prefix}rule_warnings_total`,
    help: 'Reviews that a rule warned about, by rule.',
    labelNames: ['rule'] as const,
    registers,
  });
  const unknown = new Counter({
    name: `${prefix}reviews_without_facts_total`,
    help: 'Reviews decided while nothing was known about a kind of objects in the cluster, by kind. Needs --cluster-facts.',
    labelNames: ['kind'] as const,
    registers,
  });
  const latency = new Histogram({
    name: `${prefix}request_duration_seconds`,
    help: 'Time from the header of a request to its response, by webhook. Sending the body is part of it.',
    labelNames: ['webhook'] as const,
    buckets: latencyBuckets,
    registers,
  });
  const conversions = new Counter({
    name: `${prefix}conversions_total`,
    help: 'ConversionReviews answered, by result: success or failure (an object cannot be read or written in a version).',
    labelNames: ['result'] as const,
    registers,
  });
  conversions.inc({ result: 'success' }, 0);
  conversions.inc({ result: 'failure' }, 0);
  const largeBodies = new Counter({
    name: `${prefix}large_bodies_total`,
    help: 'Bodies over 128 KiB, decided in a thread of their own, by result: answered, refused, timeout, failed, abandoned.',
    labelNames: ['result'] as const,
    registers,
  });
  for (const result of sideThreadResults) {
    largeBodies.inc({ result }, 0);
  }
  const gates = new Gauge({
    name: `${prefix}feature_enabled`,
    help: 'Whether a feature gate is on (1) or off (0).',
    labelNames: ['name'] as const,
    registers,
  });
  for (const [name, enabled] of Object.entries(featureGates)) {
    gates.set({ name }, enabled ? 1 : 0);
  }

  // Looked up by their labels only once, since that costs more than counting.
  const boundReviews = new Map<string, Counter.Internal>();
  function reviewCounter(webhook: Webhook, operation: string, verdict: AdmissionOutcome['verdict']): Counter.Internal {
    const key = `${webhook} ${operation} ${verdict}`;
    let bound = boundReviews.get(key);
    if (bound === undefined) {
      bound = reviews.labels({ webhook, operation, verdict });
      boundReviews.set(key, bound);
    }
    return bound;
  }
  const boundLatency: Record<Webhook, Histogram.Internal<'webhook'>> = {
    mutate: latency.labels({ webhook: 'mutate' }),
    validate: latency.labels({ webhook: 'validate' }),
    convert: latency.labels({ webhook: 'convert' }),
  };

  return {
    review(webhook, operation, outcome, seconds) {
      reviewCounter(webhook, operation, outcome.verdict).inc();
      boundLatency[webhook].observe(seconds);
      for (const rule of outcome.deniedBy) {
        denials.inc({ rule });
      }
      for (const rule of outcome.warnedBy) {
        warnings.inc({ rule });
      }
      for (const kind of outcome.knowledge?.unknown ?? []) {
        unknown.inc({ kind });
      }
    },
    largeBody(result) {
      largeBodies.inc({ result });
    },
    conversion(result, seconds) {
      conversions.inc({ result: result === 'Success' ? 'success' : 'failure' });
      boundLatency.convert.observe(seconds);
    },
  };
}
