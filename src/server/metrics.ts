import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AdmissionOutcome } from '../admission/index.ts';
import { type ServingStatus, servingStatus } from '../certs/index.ts';
import type { Operation } from '../kubernetes/index.ts';
import type { CertificatePair } from './certificate.ts';
import type { FeatureGates } from './feature-gates.ts';

/** The endpoints that have metrics of their own. */
export type Webhook = 'mutate' | 'validate' | 'convert';

/** The ports of the server, as labels of metrics. */
export type Port = 'webhook' | 'health';

/** What the server counts, and how Prometheus gets it. */
export interface Metrics {
  /** The format of Prometheus' text exposition. */
  contentType: string;
  /** All metrics as text. */
  render(): Promise<string>;
  review(webhook: Webhook, operation: Operation | 'UNKNOWN', outcome: AdmissionOutcome, seconds: number): void;
  conversion(result: 'Success' | 'Failure', seconds: number): void;
  refused(code: number): void;
  /** `bundle` is the trust bundle that came with the pair. */
  certificateLoaded(pair: CertificatePair, bundle: string | undefined): void;
  certificateFailed(): void;
  /** The source of certificates works, or began to fail. */
  certificateSource(works: boolean): void;
  connectionEvicted(port: Port): void;
  connectionDropped(port: Port): void;
  answerDropped(port: Port): void;
  handshakeFailed(): void;
}

/** What is asked for at the moment of a scrape. */
export interface LiveCounts {
  inFlight(): number;
  /** Bytes of their bodies and answers. */
  inFlightBytes(): number;
  connections(): number;
}

/** What never changes while the process runs. */
export interface BuildFacts {
  version: string;
  featureGates: FeatureGates;
}

const prefix = 'extensionconfig_webhook_';

/** Upper bounds in seconds: a decision takes well under a millisecond, a large object some; 10 s is the API server's end. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

const stageNames: readonly ServingStatus['stage'][] = ['missing', 'steady', 'staged', 'promoted'];

/** Metrics in a registry of their own. `processMetrics` adds memory, CPU, garbage collection and event loop lag. */
export function createMetrics(facts: BuildFacts, live: LiveCounts, processMetrics: boolean): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) {
    collectDefaultMetrics({ register: registry });
  }
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
  const latency = new Histogram({
    name: `${prefix}request_duration_seconds`,
    help: 'Time from the header of a request to its answer, by webhook. Sending the body is part of it.',
    labelNames: ['webhook'] as const,
    buckets: latencyBuckets,
    registers,
  });
  const refusals = new Counter({
    name: `${prefix}http_refusals_total`,
    help: 'Requests that were refused before any decision, by HTTP status code.',
    labelNames: ['code'] as const,
    registers,
  });
  const notAfter = new Gauge({
    name: `${prefix}certificate_not_after_timestamp_seconds`,
    help: 'When the serving certificate expires, in seconds since 1970.',
    registers,
    aggregator: 'first',
  });
  // Without a certificate there is no expiry: a 0 would set off every alert on it.
  notAfter.remove();
  const authorityNotAfter = new Gauge({
    name: `${prefix}authority_not_after_timestamp_seconds`,
    help: 'When the first authority in the trust bundle expires, in seconds since 1970. Absent without a bundle.',
    registers,
    aggregator: 'first',
  });
  authorityNotAfter.remove();
  const stages = new Gauge({
    name: `${prefix}certificate_stage`,
    help: 'Stage of the rotation as the trust bundle shows it: 1 for the stage it is in. Absent without a bundle.',
    labelNames: ['stage'] as const,
    registers,
  });
  const reloads = new Counter({
    name: `${prefix}certificate_reloads_total`,
    help: 'Certificates that appeared, by result: success, or failure (the one before keeps serving).',
    labelNames: ['result'] as const,
    registers,
  });
  reloads.inc({ result: 'success' }, 0);
  reloads.inc({ result: 'failure' }, 0);
  const sourceFailures = new Counter({
    name: `${prefix}certificate_source_failures_total`,
    help: 'Times the source of certificates began to fail (a forbidden watch, an API server out of reach).',
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
  const evicted = new Counter({
    name: `${prefix}connections_evicted_total`,
    help: 'Connections closed to make room for others: the longest idle ones, and slow ones. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  const sourceUp = new Gauge({
    name: `${prefix}certificate_source_up`,
    help: 'Whether news of certificates arrives (1) or the source of certificates fails (0).',
    registers,
    aggregator: 'min',
  });
  sourceUp.set(1);
  const dropped = new Counter({
    name: `${prefix}connections_dropped_total`,
    help: 'Connections closed on arrival because there were too many and none of them idle or slow. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  const answersDropped = new Counter({
    name: `${prefix}answers_dropped_total`,
    help: 'Connections cut because their caller did not read an answer in time. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  for (const port of ['webhook', 'health']) {
    for (const counter of [evicted, dropped, answersDropped]) {
      counter.inc({ port }, 0);
    }
  }
  const handshakes = new Counter({
    name: `${prefix}tls_handshake_failures_total`,
    help: 'TLS handshakes that failed; a wrong caBundle shows here.',
    registers,
  });
  new Gauge({
    name: `${prefix}requests_in_flight`,
    help: 'Requests that are being read or answered.',
    registers,
    collect() {
      this.set(live.inFlight());
    },
  });
  new Gauge({
    name: `${prefix}in_flight_bytes`,
    help: 'Bytes of bodies and answers of these requests; --max-in-flight-bytes is their maximum.',
    registers,
    collect() {
      this.set(live.inFlightBytes());
    },
  });
  new Gauge({
    name: `${prefix}connections`,
    help: 'Open connections on the webhook port.',
    registers,
    collect() {
      this.set(live.connections());
    },
  });
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the labels say what runs.',
    labelNames: ['version', 'node_version'] as const,
    registers,
  }).set({ version: facts.version, node_version: process.version }, 1);
  const gates = new Gauge({
    name: `${prefix}feature_enabled`,
    help: 'Whether a feature gate is on (1) or off (0).',
    labelNames: ['name'] as const,
    registers,
  });
  for (const [name, enabled] of Object.entries(facts.featureGates)) {
    gates.set({ name }, enabled ? 1 : 0);
  }

  // Looked up by their labels once: that costs more than counting.
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
    contentType: registry.contentType,
    render: () => registry.metrics(),
    review(webhook, operation, outcome, seconds) {
      reviewCounter(webhook, operation, outcome.verdict).inc();
      boundLatency[webhook].observe(seconds);
      for (const rule of outcome.deniedBy) {
        denials.inc({ rule });
      }
      for (const rule of outcome.warnedBy) {
        warnings.inc({ rule });
      }
    },
    conversion(result, seconds) {
      conversions.inc({ result: result === 'Success' ? 'success' : 'failure' });
      boundLatency.convert.observe(seconds);
    },
    refused(code) {
      refusals.inc({ code: String(code) });
    },
    certificateLoaded(pair, bundle) {
      reloads.inc({ result: 'success' });
      notAfter.set(pair.notAfter.getTime() / 1000);
      stages.reset();
      authorityNotAfter.remove();
      if (bundle !== undefined) {
        const { caNotAfter, stage } = servingStatus({ cert: pair.cert, ca: bundle });
        for (const name of stageNames) {
          stages.set({ stage: name }, name === stage ? 1 : 0);
        }
        if (caNotAfter !== undefined) {
          authorityNotAfter.set(caNotAfter.getTime() / 1000);
        }
      }
    },
    certificateFailed() {
      reloads.inc({ result: 'failure' });
    },
    certificateSource(works) {
      sourceUp.set(works ? 1 : 0);
      if (!works) {
        sourceFailures.inc();
      }
    },
    connectionEvicted(port) {
      evicted.inc({ port });
    },
    connectionDropped(port) {
      dropped.inc({ port });
    },
    answerDropped(port) {
      answersDropped.inc({ port });
    },
    handshakeFailed() {
      handshakes.inc();
    },
  };
}
