import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Log } from '../../base/index.ts';
import type { ConnectionEvents } from '../connections/connections.ts';
import { drain } from '../connections/drain.ts';
import { defaultLimits, healthLimits, type Limits } from '../connections/limits.ts';
import { type Address, listen } from '../connections/listen.ts';
import { openFileLimit, withinOpenFiles } from '../connections/open-files.ts';
import { trackConnections } from '../connections/track.ts';
import { beginExchange } from '../requests/exchange.ts';
import { createHealthApplication } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

interface HealthServerOptions {
  address: Address;
  readiness(): Readiness;
  metrics: Pick<Metrics, 'contentType' | 'render'>;
  limits?: Limits;
  events?: ConnectionEvents;
  log: Log;
}

export interface HealthServer {
  port: number;
  /** Closes the port at once. */
  stop(): Promise<void>;
}

const noEvents: ConnectionEvents = { evicted() {}, dropped() {}, responseDropped() {}, refused() {} };

/**
 * Opens a plain HTTP port for /healthz, /livez, /readyz and /metrics.
 *
 * @throws {ListenError} when the port is taken or not allowed.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { limits = defaultLimits, events = noEvents } = options;
  const application = createHealthApplication(options.readiness, options.metrics, options.log);
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: healthLimits.headersTimeoutMs,
    requestTimeout: healthLimits.requestTimeoutMs,
    keepAliveTimeout: healthLimits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  });
  const connectionLimits = withinOpenFiles({ ...limits, ...healthLimits }, openFileLimit(), 'health');
  const connections = trackConnections(server, connectionLimits, events);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    beginExchange(request, response, connections);
    application(request, response);
  });
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await drain(server, connections, { graceMs: 0, timeoutMs: 0 })) };
}
