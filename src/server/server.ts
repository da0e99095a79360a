import { watchClientCa } from './certificates/client-ca.ts';
import type { FileWatch } from './certificates/file-watch.ts';
import { defaultLimits, limitsWith } from './connections/limits.ts';
import { listen } from './connections/listen.ts';
import { type HealthServer, startHealthServer } from './health/health-server.ts';
import { readinessOf, type ServerPhase } from './health/readiness.ts';
import { createMainPort } from './main-port.ts';
import type { ServerOptions } from './options.ts';
import { createServingCertificate } from './serving-certificate.ts';

/** How to stop. */
interface StopOptions {
  /** Until this resolves, new connections are accepted, so that a response can tell clients that the server stops. */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open for a request that may be on its way, and new connections are accepted while
   * there are any, in milliseconds; default: 2,000.
   */
  graceMs?: number | undefined;
  /** After this many milliseconds, all waits included, the remaining connections are cut. */
  timeoutMs: number;
}

/** Longer than the pauses on a busy connection, but short enough for someone waiting at the keyboard. */
const defaultGraceMs = 2_000;

/** A server that is listening. */
export interface RunningServer {
  /** The main port. */
  port: number;
  /** The health port; 0 if there is none. */
  healthPort: number;
  /** Finishes the requests in flight, then closes everything. Further calls wait for the first. Never rejects. */
  stop(options: StopOptions): Promise<void>;
}

/**
 * Starts the server: the health port first, then the main port. Without a certificate, TLS handshakes fail and
 * `/readyz` says why until the source provides one. A renewed certificate is used for new connections; open ones keep
 * theirs.
 *
 * @throws {ListenError} when a port is taken or not allowed.
 * @throws {ClientCaError} when the client CA file cannot be used.
 * @throws {TypeError} for a limit that is not a whole number in its range.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { log, now, clients, certificates, name } = options;
  const limits = limitsWith(defaultLimits, options.limits);
  let phase: ServerPhase = 'starting';
  const main = await createMainPort(options, limits, () => phase === 'draining');
  const { handshakes, connections, metrics } = main;
  const certificate = createServingCertificate(handshakes.useCertificate, now, { log, metrics });
  let clientCaProblem: string | undefined;
  const readiness = () =>
    readinessOf({
      phase,
      port: name,
      ...certificate.state(),
      clientCa: clients === undefined ? undefined : { problem: clientCaProblem },
      now: now(),
    });

  let clientCaWatch: FileWatch | undefined;
  let health: HealthServer | undefined;
  let port: number;
  try {
    health =
      options.health &&
      (await startHealthServer({
        address: options.health,
        readiness,
        metrics,
        limits,
        events: main.eventsOf('health'),
        log,
      }));
    if (clients !== undefined) {
      clientCaWatch = await watchClientCa(
        clients.caFile,
        (pem) => {
          clientCaProblem = undefined;
          handshakes.useClientCa(pem);
        },
        (problem) => {
          clientCaProblem = problem;
        },
        log,
        options.pollMs,
      );
    }
    await certificates.start(certificate.take);
    port = await listen(main.server, 'main', options.main);
  } catch (error) {
    certificates.stop();
    certificate.stop();
    clientCaWatch?.close();
    await health?.stop();
    throw error;
  }
  const healthServer = health;
  const healthPort = healthServer?.port ?? 0;
  phase = 'serving';
  log.info({ [`${name}Port`]: port, healthPort, host: options.main.host ?? 'all interfaces' }, 'listening');

  async function shutDown({ closeAfter, graceMs = defaultGraceMs, timeoutMs }: StopOptions): Promise<void> {
    phase = 'draining';
    log.info({ inFlight: connections.inFlight(), connections: connections.count() }, 'stopping');
    const { cut } = await connections.drain({ closeAfter, graceMs, timeoutMs });
    certificates.stop();
    certificate.stop();
    clientCaWatch?.close();
    phase = 'stopped';
    await healthServer?.stop();
    log.info({ connectionsCut: cut }, 'stopped');
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
