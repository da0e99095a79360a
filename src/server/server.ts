import type { Express } from 'express';
import type { Log } from '../base/index.ts';
import { InFlight } from './application/body.ts';
import { createMetrics, type Metrics } from './application/metrics.ts';
import { readinessOf, type ServerPhase } from './application/readiness.ts';
import { createRefuse, type Refuse } from './application/refusal.ts';
import type { CertificateSource } from './certificates/certificate.ts';
import { watchClientCa } from './certificates/files.ts';
import { clientOf, type StopOptions } from './connections/connections.ts';
import { type HealthServer, startHealthServer } from './health.ts';
import { createHttpsPort, type HttpsPort } from './https.ts';
import { defaultLimits, type Limits, limitsWith } from './limits.ts';
import { type Address, listen } from './listen.ts';
import { createServingCertificate } from './serving-certificate.ts';

export interface ServerContext {
  metrics: Pick<Metrics, 'registry'>;
  log: Log;
  limits: Limits;
  inFlight: InFlight;
  refuse: Refuse;
}

export interface ServerOptions {
  /** Creates the application for the requests of allowed clients on the main port. */
  application: (context: ServerContext) => Express;
  /** Name of the main port in the log, in metrics and in readiness checks. */
  name: string;
  metricsPrefix: string;
  certificates: CertificateSource;
  clients?: { caFile: string; allowedNames: readonly string[] } | undefined;
  main: Address;
  /** Undefined for a server that nobody probes. */
  health: Address | undefined;
  limits?: Partial<Limits> | undefined;
  log: Log;
  lostLogLines?: (() => number) | undefined;
  version: string;
  /** Whether to add the process's own metrics, which may be registered only once per process. */
  processMetrics: boolean;
  now: () => Date;
  pollMs?: number | undefined;
}

export interface RunningServer {
  port: number;
  /** The health port; 0 if there is none. */
  healthPort: number;
  /** Finishes the requests in flight, then closes everything. Further calls wait for the first. Never rejects. */
  stop(options: StopOptions): Promise<void>;
}

/** Lines with the same message a minute: clients can cause them as often as they like. */
const maxPerMinute = 20;

/** Logs at info; the first line of the next minute counts those left out. */
function createLimitedLog(log: Log, nowMs = () => performance.now()) {
  const minutes = new Map<string, { startedMs: number; lines: number }>();
  return (fields: Record<string, unknown>, message: string): void => {
    let minute = minutes.get(message);
    let leftOut = 0;
    if (minute === undefined || nowMs() - minute.startedMs >= 60_000) {
      leftOut = Math.max(0, (minute?.lines ?? 0) - maxPerMinute);
      minute = { startedMs: nowMs(), lines: 0 };
      minutes.set(message, minute);
    }
    minute.lines++;
    if (minute.lines <= maxPerMinute) {
      log.info({ ...fields, ...(leftOut > 0 && { leftOut }) }, message);
    }
  };
}

/** Alerts of clients that do not trust the certificate: Go sends bad_certificate, OpenSSL unknown_ca. */
const rejectsCertificate = /_ALERT_(BAD_CERTIFICATE|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|UNKNOWN_CA)$/;

/**
 * Starts the health port, then the main port. Without a certificate, TLS handshakes fail and `/readyz` says why. A renewed one
 * is used for new connections. @throws {ListenError | ClientCaError} @throws {TypeError} as `limitsWith`.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { log, now, clients, certificates, name } = options;
  const limits = limitsWith(defaultLimits, options.limits);
  let phase: ServerPhase = 'starting';
  const inFlight = new InFlight(limits.maxInFlightBytes);
  const metrics = createMetrics({ ...options, prefix: options.metricsPrefix, port: name }, () => ({
    connections: https.connections,
    inFlight,
  }));
  const logSome = createLimitedLog(log);
  const { eventsOf, handshakeFailed } = metrics;
  let rejection: { client: string | undefined; at: Date } | undefined;
  const events: Parameters<typeof createHttpsPort>[0]['events'] = {
    ...eventsOf(name),
    refused(refusal, socket) {
      eventsOf(name).refused(refusal);
      // A bug is logged with its stack.
      if (refusal.code !== 500) {
        logSome({ code: refusal.code, reason: refusal.message, client: clientOf(socket) }, 'request refused');
      }
    },
    handshakeFailed({ code, message }, client) {
      const isRejection = rejectsCertificate.test(code ?? '');
      handshakeFailed(isRejection);
      if (isRejection) {
        rejection = { client, at: now() };
      }
      // A load balancer connects and leaves to see whether the port is open.
      if (code !== 'ECONNRESET') {
        logSome({ reason: code ?? message, client }, 'TLS handshake failed');
      }
    },
  };
  const refuse = createRefuse(log, events.refused);
  const application = options.application({ metrics, log, limits, inFlight, refuse });
  const https: HttpsPort = createHttpsPort({ limits, clients, events, log, application, refuse });
  const certificate = createServingCertificate(({ cert, key }) => https.use({ cert, key }), now, { log, metrics });
  let clientCaProblem: string | undefined;
  const readiness = () =>
    readinessOf({
      phase,
      port: name,
      ...certificate.state,
      rejection,
      clientCa: clients === undefined ? undefined : { problem: clientCaProblem },
      now: now(),
    });

  const stops: (() => void)[] = [certificate.stop];
  let health: HealthServer | undefined;
  let port: number;
  async function close(): Promise<void> {
    for (const stop of stops) {
      stop();
    }
    await health?.stop();
  }
  try {
    if (options.health !== undefined) {
      const address = options.health;
      const events = metrics.eventsOf('health');
      health = await startHealthServer({ address, readiness, metrics: metrics.registry, events, log });
    }
    if (clients !== undefined) {
      const onChange: Parameters<typeof watchClientCa>[1] = (clientCa) => {
        clientCaProblem = 'problem' in clientCa ? clientCa.problem : undefined;
        if ('pem' in clientCa) {
          https.use({ ca: clientCa.pem });
        }
      };
      stops.push(await watchClientCa(clients.caFile, onChange, log, options.pollMs));
    }
    stops.push(await certificates(certificate.take));
    port = await listen(https.server, 'main', options.main);
  } catch (error) {
    await close();
    throw error;
  }
  const healthPort = health?.port ?? 0;
  phase = 'serving';
  log.info({ [`${name}Port`]: port, healthPort, host: options.main.host ?? 'all interfaces' }, 'listening');

  async function shutDown(stopOptions: StopOptions): Promise<void> {
    phase = 'draining';
    const { connections } = https;
    log.info({ inFlight: connections.inFlight, connections: connections.open.size }, 'stopping');
    const connectionsCut = await connections.stop(stopOptions);
    await close();
    log.info({ connectionsCut }, 'stopped');
  }
  let stopping: Promise<void> | undefined;
  return {
    port,
    healthPort,
    stop(stopOptions) {
      stopping ??= shutDown(stopOptions);
      return stopping;
    },
  };
}
