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
  largeBody(result: SideThreadResult): void;
  conversion(result: 'Success' | 'Failure', seconds: number): void;
}

export const metricsPrefix = 'extensionconfig_webhook_';

/** Upper bounds in seconds: a decision takes well under a millisecond, a large object some; 10 s is the API server's default timeout. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

export function createReviewMetrics(registry: Registry, featureGates: FeatureGates): ReviewMetrics {
  const { counter, gauge, tally, times } = metricsIn(registry, metricsPrefix);
  const reviews = tally(
    'reviews_total',
    'Admission reviews answered, by webhook, operation and verdict (allowed, warned, denied, malformed).',
    ['webhook', 'operation', 'verdict'],
  );
  const counts = new Map<string, () => void>();
  const denials = counter('rule_denials_total', 'Reviews that a rule denied, by rule.', ['rule']);
  const warnings = counter('rule_warnings_total', 'Reviews that a rule warned about, by rule.', ['rule']);
  const unknown = counter(
    'reviews_without_facts_total',
    'Reviews decided without facts about a kind of objects in the cluster, by kind. Needs --cluster-facts.',
    ['kind'],
  );
  const latency = times(
    'request_duration_seconds',
    'Time from the header of a request to its response, by webhook. Includes receiving the body.',
    ['webhook'],
    latencyBuckets,
  );
  const addTime = {
    mutate: latency({ webhook: 'mutate' }),
    validate: latency({ webhook: 'validate' }),
    convert: latency({ webhook: 'convert' }),
  } satisfies Record<Webhook, unknown>;
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

  return {
    review(webhook, operation, outcome, seconds) {
      const { verdict } = outcome;
      const key = `${webhook} ${operation} ${verdict}`;
      const count = counts.get(key) ?? reviews({ webhook, operation, verdict });
      counts.set(key, count);
      count();
      addTime[webhook](seconds);
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
      addTime.convert(seconds);
    },
  };
}
