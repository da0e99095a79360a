import { performance } from 'node:perf_hooks';
import { refusal } from '../kubernetes/index.ts';
import type { ConnectionEvents } from './connections/connection-limits.ts';
import { type Connections, trackConnections } from './connections/connections.ts';
import type { Limits } from './connections/limits.ts';
import type { TrackedRequest, TrackedResponse, TrackedServer } from './connections/tracked.ts';
import { createMetrics, type Metrics, type Port } from './health/metrics.ts';
import { createHandshakes, createHttpsServer, type Handshakes } from './https.ts';
import type { ServerOptions } from './options.ts';
import type { Foundation } from './requests/application.ts';
import { lateMessage, refuseBrokenRequests } from './requests/broken-requests.ts';
import { forAllowedClients } from './requests/client-policy.ts';
import { refuseUnread } from './requests/response.ts';

/** The main port before it listens, with everything that handles connections and requests on it. */
export interface MainPort {
  server: TrackedServer;
  handshakes: Handshakes;
  connections: Connections;
  metrics: Metrics;
  /** Counts what happens to connections, those of another port as well. */
  eventsOf(port: Port): ConnectionEvents;
}

/** Puts the application on an HTTPS server with limits, client certificates and metrics. */
export async function createMainPort(
  options: ServerOptions,
  limits: Limits,
  isDraining: () => boolean,
): Promise<MainPort> {
  const { log, clients, name, http2 = false } = options;
  const clientCertificates = clients !== undefined;
  const server = createHttpsServer(limits, { http2, clientCertificates });
  // Events of connections come only after `metrics` exists.
  const eventsOf = (port: Port): ConnectionEvents => ({
    evicted: () => metrics.connectionEvicted(port),
    dropped: () => metrics.connectionDropped(port),
    responseDropped: () => metrics.responseDropped(port),
    requestLate: (request: TrackedRequest, response: TrackedResponse) => {
      metrics.refused(408);
      connections.holdResponse(response, 0);
      refuseUnread(request, response, refusal(408, lateMessage), limits.maxBodyBytes);
    },
  });
  const connections = trackConnections(server, limits, eventsOf(name));
  const metrics: Metrics = createMetrics(
    { version: options.version, prefix: options.metricsPrefix, port: name },
    {
      inFlight: connections.inFlight,
      inFlightBytes: connections.inFlightBytes,
      connections: connections.count,
      lostLogLines: options.lostLogLines,
    },
    options.processMetrics,
  );
  const foundation: Foundation = {
    metrics,
    log,
    maxBodyBytes: limits.maxBodyBytes,
    connections,
    monotonicNow: () => performance.now(),
    isDraining,
  };
  const application = options.application(foundation);
  const respond = clients === undefined ? application : forAllowedClients(server, clients, application, foundation);
  server.on('request', respond);
  if (http2) {
    // Only then, since `node:http2` is large.
    const { serveHttp2 } = await import('./http2.ts');
    serveHttp2(server, connections, limits, respond);
  }
  // The route sends 100 Continue, or refuses before a body is sent.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    metrics.handshakeFailed();
    log.debug({ code: error.code }, 'TLS handshake failed');
  });
  refuseBrokenRequests(server, metrics.refused);
  return { server, handshakes: createHandshakes(server, clientCertificates), connections, metrics, eventsOf };
}
