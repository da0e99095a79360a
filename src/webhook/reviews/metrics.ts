import type { Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import type { Operation } from '../../kubernetes/index.ts';
import type { AdmissionOutcome } from '../../policy/index.ts';
import type { Webhook } from './decide.ts';
import type { FeatureGates } from './feature-gates.ts';
import { type SideThreadResult, sideThreadResults } from './side-thread.ts';

export interface ReviewMetrics {
  review(
    webhook: Webhook,
    operation: Operation | 'UNKNOWN',
    outcome: Pick<AdmissionOutcome, 'verdict' | 'deniedBy' | 'warnedBy' | 'knowledge'>,
    seconds: number,
  ): void;
  /** Called for each large body that was passed to the side thread. */
  largeBody(result: SideThreadResult): void;
  conversion(result: 'Success' | 'Failure', seconds: number): void;
}

export const metricsPrefix = 'extensionconfig_webhook_';

/** Upper bounds in seconds: a decision takes well under a millisecond, a large object some; 10 s is the API server's default timeout. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

interface Times {
  add(seconds: number): void;
  drain(): void;
}

/**
 * Maximum number of durations that wait for their histogram: it processes that many within a tenth of a millisecond.
 */
const maxWaitingTimes = 256;

/**
 * Buffers the durations of one webhook until their histogram is read or many have accumulated: in bulk, each costs a
 * fraction of what it would cost between two requests.
 */
function createTimes(histogram: { observe(seconds: number): void }): Times {
  const waiting: number[] = [];
  function drain(): void {
    for (const seconds of waiting) {
      histogram.observe(seconds);
    }
    waiting.length = 0;
  }
  return {
    add(seconds) {
      if (waiting.push(seconds) === maxWaitingTimes) {
        drain();
      }
    },
    drain,
  };
}

/** Adds the metrics of reviews, and of the feature gates, to the server's. */
export function createReviewMetrics(registry: Registry, featureGates: FeatureGates): ReviewMetrics {
  const { counter, gauge, histogram } = metricsIn(registry, metricsPrefix);
  // Reviews that were not added to their metric yet, by their labels: prom-client, which looks up labels by name, takes as
  // long to count a review as it takes to decide on it.
  const uncounted = new Map<string, { labels: Record<'webhook' | 'operation' | 'verdict', string>; count: number }>();
  const reviews = counter(
    'reviews_total',
    'Admission reviews answered, by webhook, operation and verdict (allowed, warned, denied, malformed).',
    ['webhook', 'operation', 'verdict'],
    {
      collect() {
        for (const { labels, count } of uncounted.values()) {
          reviews.inc(labels, count);
        }
        uncounted.clear();
      },
    },
  );
  const denials = counter('rule_denials_total', 'Reviews that a rule denied, by rule.', ['rule']);
  const warnings = counter('rule_warnings_total', 'Reviews that a rule warned about, by rule.', ['rule']);
  const unknown = counter(
    'reviews_without_facts_total',
    'Reviews decided without facts about a kind of objects in the cluster, by kind. Needs --cluster-facts.',
    ['kind'],
  );
  const latency = histogram(
    'request_duration_seconds',
    'Time from the header of a request to its response, by webhook. Includes receiving the body.',
    ['webhook'],
    {
      buckets: latencyBuckets,
      collect() {
        for (const waiting of Object.values(times)) {
          waiting.drain();
        }
      },
    },
  );
  const conversions = counter(
    'conversions_total',
    'ConversionReviews answered, by result: success or failure (an object cannot be read or written in a version).',
    ['result'],
  );
  conversions.inc({ result: 'success' }, 0);
  conversions.inc({ result: 'failure' }, 0);
  const largeBodies = counter(
    'large_bodies_total',
    'Bodies over 128 KiB, decided in a thread of their own, by result: answered, refused, timeout, failed, abandoned.',
    ['result'],
  );
  for (const result of sideThreadResults) {
    largeBodies.inc({ result }, 0);
  }
  const gates = gauge('feature_enabled', 'Whether a feature gate is on (1) or off (0).', ['name']);
  for (const [name, enabled] of Object.entries(featureGates)) {
    gates.set({ name }, enabled ? 1 : 0);
  }

  const times: Record<Webhook, Times> = {
    mutate: createTimes(latency.labels({ webhook: 'mutate' })),
    validate: createTimes(latency.labels({ webhook: 'validate' })),
    convert: createTimes(latency.labels({ webhook: 'convert' })),
  };

  return {
    review(webhook, operation, outcome, seconds) {
      const { verdict } = outcome;
      const key = `${webhook} ${operation} ${verdict}`;
      const known = uncounted.get(key);
      if (known === undefined) {
        uncounted.set(key, { labels: { webhook, operation, verdict }, count: 1 });
      } else {
        known.count += 1;
      }
      times[webhook].add(seconds);
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
      times.convert.add(seconds);
    },
  };
}
