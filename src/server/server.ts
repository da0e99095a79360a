import { constants } from 'node:crypto';
import { createServer as createHttpsServer } from 'node:https';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { type CertificatePair, judgePair } from './certificate.ts';
import type { CertificateEvent, CertificateSource } from './certificate-source.ts';
import { watchClientCa } from './client-ca.ts';
import { refusalOf } from './client-policy.ts';
import { type Connections, trackConnections } from './connections.ts';
import type { FileWatch } from './file-watch.ts';
import { type HealthServer, startHealthServer } from './health-server.ts';
import { serveHttp2 } from './http2.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { type Address, listen } from './listen.ts';
import { createMetrics, type Metrics, type Port } from './metrics.ts';
import { readinessOf, type ServerPhase } from './readiness.ts';
import { rawRefusal, refusal, refuseUnread } from './response.ts';
import { Http1Response, type TrackedRequest, type TrackedResponse, type TrackedServer } from './tracked.ts';

/** What an application gets from the server that it runs on. */
export interface Foundation {
  metrics: Metrics;
  log: Logger;
  maxBodyBytes: number;
  connections: Pick<Connections, 'holdBody' | 'holdDecision' | 'holdResponse' | 'leave'>;
  /** Milliseconds of a clock that never goes back. */
  monotonicNow: () => number;
  /** Whether clients are to be told to close their connections. */
  isDraining: () => boolean;
}

/** Handles requests. */
export type Application = (request: TrackedRequest, response: TrackedResponse) => void;

/** What a server is made of. */
export interface ServerOptions {
  /** Handles the requests on the main port of clients that are allowed. */
  application: (foundation: Foundation) => Application;
  /** Name of the main port in the log, in metrics and in readiness checks. */
  name: string;
  /** What the names of metrics begin with. */
  metricsPrefix: string;
  certificates: CertificateSource;
  /** Whether to offer HTTP/2 besides HTTP/1.1. Default: HTTP/1.1 only. */
  http2?: boolean | undefined;
  /** Asks clients for a certificate of these CAs. */
  clients?: { caFile: string; allowedNames: readonly string[] } | undefined;
  main: Address;
  health: Address;
  limits?: Partial<Limits> | undefined;
  log: Logger;
  version: string;
  /** Adds the process's own metrics; once a process. */
  processMetrics: boolean;
  now: () => Date;
  /** How often the client CA is read when no event says that it changed, in milliseconds. */
  pollMs?: number | undefined;
}

/** How to stop. */
export interface StopOptions {
  /**
   * Until this resolves, new connections are still accepted, so that a response can tell clients that the server stops.
   */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open for a request that may be on its way to it, and new connections are taken
   * while there are any, in milliseconds; default 2,000.
   */
  graceMs?: number | undefined;
  /** After this many milliseconds, all waits included, connections are cut. */
  timeoutMs: number;
}

/** Longer than the pauses on a busy connection; short enough to wait for at the keyboard. */
const defaultGraceMs = 2_000;

/** A server that listens. */
export interface RunningServer {
  /** The main port. */
  port: number;
  healthPort: number;
  /** Finishes the requests in flight, then closes everything. Later calls wait for the first. Never rejects. */
  stop(options: StopOptions): Promise<void>;
}

/**
 * TLS 1.2 with forward secrecy and authenticated encryption only, 1.3 as it is. Go (and so API servers) offers all of
 * these since 1.2. Curves are OpenSSL's own choice, which has none below 128 bits of security.
 */
const tlsSettings = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  // A renegotiation costs the server a handshake on request, and no client needs one.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

const lateMessage = 'the request did not arrive in time';

/** Responds on connections on which no request could be read; Node's own responses have no body. */
function refuseBrokenRequests(server: TrackedServer, onRefused: (code: number) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // TLS errors come here too, and there is no request to respond to yet; once a response has begun, there is no room
    // for another.
    const isHttp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code?.startsWith('HPE_') === true;
    const hasResponse = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
    if (!isHttp || hasResponse || !socket.writable) {
      socket.destroy();
      return;
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      onRefused(408);
      socket.end(rawRefusal(408, 'Request Timeout', lateMessage));
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      onRefused(431);
      socket.end(rawRefusal(431, 'Request Header Fields Too Large', 'the header of the request is too large'));
    } else {
      onRefused(400);
      socket.end(rawRefusal(400, 'Bad Request', 'the request is not valid HTTP/1.1'));
    }
    // Close even if the client never reads the response.
    setTimeout(() => socket.destroy(), 1_000).unref();
  });
}

/**
 * Starts the server: the health port first, then the main port. Without a certificate TLS handshakes fail and
 * `/readyz` says why, until the source brings one; new connections use each later one, and open ones keep theirs.
 *
 * @throws {ListenError} when a port is taken or not allowed.
 * @throws {ClientCaError} when the client CA file cannot be used.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { log, now, clients, name } = options;
  const limits: Limits = { ...defaultLimits, ...options.limits };
  let phase: ServerPhase = 'starting';
  let pair: CertificatePair | undefined;
  let certificateProblem: string | undefined;
  let sourceProblem: string | undefined;
  let clientCa: string | undefined;
  let clientCaProblem: string | undefined;

  const main = createHttpsServer({
    ...tlsSettings,
    ServerResponse: Http1Response,
    requestCert: clients !== undefined,
    // Clients without an accepted certificate get a 403 that says why; a failed handshake would say nothing.
    rejectUnauthorized: false,
    handshakeTimeout: limits.headersTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // The sweep over all connections does that, without a timer a request.
    keepAliveTimeout: 0,
    noDelay: true,
    ...(options.http2 && { ALPNProtocols: ['h2', 'http/1.1'] }),
  });
  // Events of connections come only after `metrics` exists.
  const eventsOf = (port: Port) => ({
    evicted: () => metrics.connectionEvicted(port),
    dropped: () => metrics.connectionDropped(port),
    responseDropped: () => metrics.responseDropped(port),
    requestLate: (request: TrackedRequest, response: TrackedResponse) => {
      metrics.refused(408);
      connections.holdResponse(response, 0);
      refuseUnread(request, response, refusal(408, lateMessage), limits.maxBodyBytes);
    },
  });
  const connections = trackConnections(main, limits, eventsOf(name));
  const metrics: Metrics = createMetrics(
    { version: options.version, prefix: options.metricsPrefix, port: name },
    { inFlight: connections.inFlight, inFlightBytes: connections.inFlightBytes, connections: connections.count },
    options.processMetrics,
  );

  // Decided once a connection, at its handshake.
  const refusals = new WeakMap<TLSSocket, string>();
  if (clients !== undefined) {
    main.on('secureConnection', (socket) => {
      const refused = refusalOf(socket, clients);
      if (refused !== undefined) {
        refusals.set(socket, refused);
        log.warn({ reason: refused, remoteAddress: socket.remoteAddress }, 'client refused');
      }
    });
  }
  const application = options.application({
    metrics,
    log,
    maxBodyBytes: limits.maxBodyBytes,
    connections,
    monotonicNow: () => performance.now(),
    isDraining: () => phase === 'draining',
  });
  const respondToAllowed: Application =
    clients === undefined
      ? application
      : (request, response) => {
          const secure = response.carrier?.secure;
          const refused = secure === undefined ? 'the connection has ended' : refusals.get(secure);
          if (refused === undefined) {
            application(request, response);
          } else {
            metrics.refused(403);
            refuseUnread(request, response, refusal(403, refused), limits.maxBodyBytes);
          }
        };
  main.on('request', respondToAllowed);
  if (options.http2) {
    serveHttp2(main, connections, limits, respondToAllowed);
  }
  // The route sends 100 Continue, or refuses before a body is sent.
  main.on('checkContinue', (request, response) => main.emit('request', request, response));
  main.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    metrics.handshakeFailed();
    log.debug({ code: error.code }, 'TLS handshake failed');
  });
  refuseBrokenRequests(main, metrics.refused);

  function useCertificate(): void {
    if (pair !== undefined) {
      main.setSecureContext({
        cert: pair.cert,
        key: pair.key,
        ...tlsSettings,
        // Without a list of its own Node would trust every public CA.
        ...(clients !== undefined && { ca: clientCa ?? [] }),
      });
    }
  }

  function onSource(problem: string | undefined): void {
    if (problem === sourceProblem) {
      return;
    }
    sourceProblem = problem;
    metrics.certificateSource(problem === undefined);
    if (problem === undefined) {
      log.info('the source of certificates works again');
      return;
    }
    log.error({ reason: problem }, 'the source of certificates fails: renewed ones may come late');
  }

  function onCertificate(event: CertificateEvent): void {
    if (event.kind === 'source') {
      onSource(event.problem);
      return;
    }
    if (event.kind === 'pair') {
      const verdict = judgePair(pair, event.pair, now());
      if (verdict.use) {
        pair = event.pair;
        certificateProblem = undefined;
        useCertificate();
        metrics.certificateLoaded(pair, event.bundle);
        const { notBefore, notAfter, fingerprint, subjectAltName } = pair;
        log.info({ notBefore, notAfter, fingerprint, subjectAltName }, 'serving certificate loaded');
        return;
      }
      certificateProblem = verdict.reason;
    } else {
      certificateProblem = event.reason;
    }
    if (event.kind === 'absent' && pair === undefined) {
      log.warn({ reason: certificateProblem }, 'waiting for a serving certificate');
      return;
    }
    metrics.certificateFailed();
    log.error(
      { reason: certificateProblem },
      pair === undefined
        ? 'no usable serving certificate yet'
        : 'new serving certificate is unusable; the old one stays',
    );
  }

  let clientCaWatch: FileWatch | undefined;
  let port: number;
  let health: HealthServer | undefined;
  try {
    health = await startHealthServer({
      address: options.health,
      readiness: () =>
        readinessOf({
          phase,
          port: name,
          pair,
          certificateProblem,
          sourceProblem,
          clientCa: clients === undefined ? undefined : { problem: clientCaProblem },
          now: now(),
        }),
      metrics,
      limits,
      events: eventsOf('health'),
      log,
    });
    if (clients !== undefined) {
      clientCaWatch = await watchClientCa(
        clients.caFile,
        (pem) => {
          clientCa = pem;
          clientCaProblem = undefined;
          useCertificate();
        },
        (problem) => {
          clientCaProblem = problem;
        },
        log,
        options.pollMs,
      );
    }
    await options.certificates.start(onCertificate);
    port = await listen(main, 'main', options.main);
  } catch (error) {
    options.certificates.stop();
    clientCaWatch?.close();
    await health?.stop();
    throw error;
  }
  const healthServer = health;
  phase = 'serving';
  log.info(
    { [`${name}Port`]: port, healthPort: healthServer.port, host: options.main.host ?? 'all interfaces' },
    'listening',
  );

  async function shutDown({ closeAfter, graceMs = defaultGraceMs, timeoutMs }: StopOptions): Promise<void> {
    phase = 'draining';
    log.info({ inFlight: connections.inFlight(), connections: connections.count() }, 'stopping');
    const { cut } = await connections.drain({ closeAfter, graceMs, timeoutMs });
    options.certificates.stop();
    clientCaWatch?.close();
    phase = 'stopped';
    await healthServer.stop();
    log.info({ connectionsCut: cut }, 'stopped');
  }
  let stopping: Promise<void> | undefined;
  return {
    port,
    healthPort: healthServer.port,
    stop(stopOptions) {
      stopping ??= shutDown(stopOptions);
      return stopping;
    },
  };
}
