import { collectDefaultMetrics, Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import { readCertificates, usable } from '../../base/x509/index.ts';
import type { CertificatePair } from '../certificates/certificate.ts';

interface MetricsOptions {
  version: string;
  /** Of the names of metrics: `extensionconfig_webhook_`. */
  prefix: string;
  /** Name of the main port: the label of its metrics; that of the other one is `health`. */
  port: string;
  /** Whether to add memory, CPU, garbage collection and event loop lag. */
  processMetrics: boolean;
  lostLogLines?: (() => number) | undefined;
}

export const lostLogLinesHelp = 'Lines of the log that were lost: nobody read them, or they could not be written.';

interface LiveCounts {
  connections: { open: { size: number }; inFlight: number };
  inFlight: { bytes: number };
}

const refusalCodes = [400, 403, 404, 405, 408, 413, 415, 431, 500, 501, 503];

const secondsOf = (time: Date) => time.getTime() / 1000;

const stages = ['missing', 'steady', 'staged', 'promoted'] as const;

/** The earliest expiry in a trust bundle (PEM), and the stage of the rotation that it reveals; `missing` if it is invalid. */
function readTrustBundle(pem: string): { caNotAfter: Date | undefined; stage: (typeof stages)[number] } {
  const certificates = usable(readCertificates(pem));
  if (certificates === undefined) {
    return { caNotAfter: undefined, stage: 'missing' };
  }
  const [active, ...others] = certificates;
  const ends = certificates.map(({ x509 }) => x509.validToDate.getTime());
  // The active CA comes first: a younger one behind it is the next, an older one the previous.
  const isStaged = others.some(({ x509 }) => x509.validFromDate > active.x509.validFromDate);
  return {
    caNotAfter: new Date(Math.min(...ends)),
    stage: others.length === 0 ? 'steady' : isStaged ? 'staged' : 'promoted',
  };
}

/** Creates the metrics of a server, in their own registry. */
export function createMetrics(options: MetricsOptions, live: () => LiveCounts) {
  const { prefix, port: mainPort, version, processMetrics, lostLogLines } = options;
  const registry = new Registry();
  const { counter, counterOf, counted, gauge, measured } = metricsIn(registry, prefix);
  if (processMetrics) {
    collectDefaultMetrics({ register: registry });
  }
  const codes = 'Requests refused before a decision, by HTTP status code.';
  const refusals = counterOf('http_refusals_total', codes, 'code', refusalCodes);
  let certificate: { notAfter: Date; bundle: ReturnType<typeof readTrustBundle> | undefined } | undefined;
  measured(
    'certificate_not_after_timestamp_seconds',
    'When the serving certificate expires, in seconds since 1970.',
    () => certificate && secondsOf(certificate.notAfter),
  );
  measured(
    'authority_not_after_timestamp_seconds',
    'When the first CA in the trust bundle expires, in seconds since 1970. Absent without a bundle.',
    () => certificate?.bundle?.caNotAfter && secondsOf(certificate.bundle.caNotAfter),
  );
  gauge(
    'certificate_stage',
    'Stage of the CA rotation as the trust bundle shows it: 1 for the current stage. Absent without a bundle.',
    ['stage'],
    {
      collect() {
        this.reset();
        for (const stage of certificate?.bundle ? stages : []) {
          this.set({ stage }, stage === certificate?.bundle?.stage ? 1 : 0);
        }
      },
    },
  );
  const reloads = counterOf(
    'certificate_reloads_total',
    'New certificates, by result: success, or failure (the previous one stays in use).',
    'result',
    ['success', 'failure'],
  );
  const sourceFailures = counter(
    'certificate_source_failures_total',
    'Times the source of certificates started to fail (a forbidden watch, an unreachable API server).',
  );
  const ofPorts = (name: string, help: string) => counterOf(name, `${help} By port.`, 'port', [mainPort, 'health']);
  const evicted = ofPorts(
    'connections_evicted_total',
    'Connections closed to make room for others: the longest idle ones, and slow ones.',
  );
  const sourceUp = gauge('certificate_source_up', 'Whether the source of certificates works (1) or fails (0).');
  sourceUp.set(1);
  const dropped = ofPorts(
    'connections_dropped_total',
    'Connections closed on arrival because there were too many and none was idle or slow.',
  );
  const responsesDropped = ofPorts(
    'answers_dropped_total',
    'Connections closed because the client did not read a response in time.',
  );
  const handshakes = counter(
    'tls_handshake_failures_total',
    'TLS handshakes that failed; a wrong caBundle shows up here.',
  );
  const rejections = counter(
    'certificate_rejections_total',
    'TLS handshakes that a client ended because it does not trust the serving certificate: its caBundle is empty, or of another CA.',
  );
  measured('requests_in_flight', 'Requests being read or answered.', () => live().connections.inFlight);
  measured(
    'in_flight_bytes',
    'Bytes of bodies and responses of these requests; more than 256 MiB are refused.',
    () => live().inFlight.bytes,
  );
  if (lostLogLines !== undefined) {
    counted('log_lines_lost_total', lostLogLinesHelp, lostLogLines);
  }
  measured('connections', `Open connections on the ${mainPort} port.`, () => live().connections.open.size);
  gauge('build_info', 'Always 1; the labels describe the build.', ['version', 'node_version']).set(
    { version, node_version: process.version },
    1,
  );
  return {
    registry,
    eventsOf: (port: string) => ({
      refused: ({ code }: { code: number }) => refusals.inc({ code }),
      evicted: () => evicted.inc({ port }),
      dropped: () => dropped.inc({ port }),
      responseDropped: () => responsesDropped.inc({ port }),
    }),
    certificateLoaded({ notAfter }: CertificatePair, bundle: string | undefined): void {
      reloads.inc({ result: 'success' });
      certificate = { notAfter, bundle: bundle === undefined ? undefined : readTrustBundle(bundle) };
    },
    certificateFailed: () => reloads.inc({ result: 'failure' }),
    /** To be called when the source of certificates begins to fail, or works again. */
    certificateSource(works: boolean): void {
      sourceUp.set(works ? 1 : 0);
      if (!works) {
        sourceFailures.inc();
      }
    },
    /** `isRejection`: because the client does not trust the serving certificate. */
    handshakeFailed(isRejection: boolean): void {
      handshakes.inc();
      if (isRejection) {
        rejections.inc();
      }
    },
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
