import { Counter, collectProcessMetrics, Gauge, Registry } from '../prometheus/index.ts';
import type { CertificatePair } from './certificate.ts';
import { type ServingStatus, servingStatus } from './serving-status.ts';

/** A port of the server as a metric label: the name of the main port, or `health`. */
export type Port = string;

/** The server's metrics. */
export interface Metrics {
  /** The format of Prometheus' text exposition. */
  contentType: string;
  /** The registry to which an application adds its own metrics. */
  registry: Registry;
  /** All metrics in that format. */
  render(): Promise<string>;
  refused(code: number): void;
  /** `bundle` is the trust bundle that came with the pair. */
  certificateLoaded(pair: CertificatePair, bundle: string | undefined): void;
  certificateFailed(): void;
  /** To be called when the source of certificates begins to fail, or works again. */
  certificateSource(works: boolean): void;
  connectionEvicted(port: Port): void;
  connectionDropped(port: Port): void;
  responseDropped(port: Port): void;
  handshakeFailed(): void;
}

/** Values that are read at each scrape. */
export interface LiveCounts {
  inFlight(): number;
  /** Bytes of their bodies and responses. */
  inFlightBytes(): number;
  connections(): number;
}

/** Values that are constant while the process runs. */
export interface BuildFacts {
  version: string;
  /** Prefix of metric names: `extensionconfig_webhook_`. */
  prefix: string;
  /** Name of the main port. */
  port: Port;
}

const stageNames: readonly ServingStatus['stage'][] = ['missing', 'steady', 'staged', 'promoted'];

/**
 * Creates the metrics, in their own registry. `processMetrics` adds memory, CPU, garbage collection and event loop lag.
 */
export function createMetrics(facts: BuildFacts, live: LiveCounts, processMetrics: boolean): Metrics {
  const { prefix } = facts;
  const registry = new Registry();
  const registers = [registry];
  if (processMetrics) {
    collectProcessMetrics(registry);
  }
  const refusals = new Counter({
    name: `${prefix}http_refusals_total`,
    help: 'Requests refused before a decision, by HTTP status code.',
    labelNames: ['code'] as const,
    registers,
  });
  const notAfter = new Gauge({
    name: `${prefix}certificate_not_after_timestamp_seconds`,
    help: 'When the serving certificate expires, in seconds since 1970.',
    registers,
  });
  // Without a certificate there is no expiry time: 0 would trigger every alert on it.
  notAfter.remove();
  const caNotAfterGauge = new Gauge({
    name: `${prefix}authority_not_after_timestamp_seconds`,
    help: 'When the first CA in the trust bundle expires, in seconds since 1970. Absent without a bundle.',
    registers,
  });
  caNotAfterGauge.remove();
  const stages = new Gauge({
    name: `${prefix}certificate_stage`,
    help: 'Stage of the CA rotation as the trust bundle shows it: 1 for the current stage. Absent without a bundle.',
    labelNames: ['stage'] as const,
    registers,
  });
  const reloads = new Counter({
    name: `${prefix}certificate_reloads_total`,
    help: 'New certificates, by result: success, or failure (the previous one stays in use).',
    labelNames: ['result'] as const,
    registers,
  });
  reloads.inc({ result: 'success' }, 0);
  reloads.inc({ result: 'failure' }, 0);
  const sourceFailures = new Counter({
    name: `${prefix}certificate_source_failures_total`,
    help: 'Times the source of certificates started to fail (a forbidden watch, an unreachable API server).',
    registers,
  });
  const evicted = new Counter({
    name: `${prefix}connections_evicted_total`,
    help: 'Connections closed to make room for others: the longest idle ones, and slow ones. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  const sourceUp = new Gauge({
    name: `${prefix}certificate_source_up`,
    help: 'Whether the source of certificates works (1) or fails (0).',
    registers,
  });
  sourceUp.set(1);
  const dropped = new Counter({
    name: `${prefix}connections_dropped_total`,
    help: 'Connections closed on arrival because there were too many and none was idle or slow. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  const responsesDropped = new Counter({
    name: `${prefix}answers_dropped_total`,
    help: 'Connections closed because the client did not read a response in time. By port.',
    labelNames: ['port'] as const,
    registers,
  });
  for (const port of [facts.port, 'health']) {
    for (const counter of [evicted, dropped, responsesDropped]) {
      counter.inc({ port }, 0);
    }
  }
  const handshakes = new Counter({
    name: `${prefix}tls_handshake_failures_total`,
    help: 'TLS handshakes that failed; a wrong caBundle shows up here.',
    registers,
  });
  new Gauge({
    name: `${prefix}requests_in_flight`,
    help: 'Requests being read or answered.',
    registers,
    collect() {
      this.set(live.inFlight());
    },
  });
  new Gauge({
    name: `${prefix}in_flight_bytes`,
    help: 'Bytes of bodies and responses of these requests; --max-in-flight-bytes is their maximum.',
    registers,
    collect() {
      this.set(live.inFlightBytes());
    },
  });
  new Gauge({
    name: `${prefix}connections`,
    help: `Open connections on the ${facts.port} port.`,
    registers,
    collect() {
      this.set(live.connections());
    },
  });
  new Gauge({
    name: `${prefix}build_info`,
    help: 'Always 1; the labels describe the build.',
    labelNames: ['version', 'node_version'] as const,
    registers,
  }).set({ version: facts.version, node_version: process.version }, 1);
  return {
    contentType: registry.contentType,
    registry,
    render: () => registry.metrics(),
    refused(code) {
      refusals.inc({ code: String(code) });
    },
    certificateLoaded(pair, bundle) {
      reloads.inc({ result: 'success' });
      notAfter.set(pair.notAfter.getTime() / 1000);
      stages.reset();
      caNotAfterGauge.remove();
      if (bundle !== undefined) {
        const { caNotAfter, stage } = servingStatus({ cert: pair.cert, ca: bundle });
        for (const name of stageNames) {
          stages.set({ stage: name }, name === stage ? 1 : 0);
        }
        if (caNotAfter !== undefined) {
          caNotAfterGauge.set(caNotAfter.getTime() / 1000);
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
    responseDropped(port) {
      responsesDropped.inc({ port });
    },
    handshakeFailed() {
      handshakes.inc();
    },
  };
}
