import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Log } from '../../base/index.ts';
import { type ConnectionEvents, Connections } from '../connections.ts';
import { drain } from '../drain.ts';
import { healthLimits, openFileLimit, withinOpenFiles } from '../limits.ts';
import { type Address, listen } from '../listen.ts';
import { createHealthApplication } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

interface HealthServerOptions {
  address: Address;
  readiness(): Readiness;
  metrics: Pick<Metrics, 'contentType' | 'render'>;
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
  const application = createHealthApplication(options.readiness, options.metrics, options.log);
  const limits = withinOpenFiles(healthLimits, openFileLimit(), 'health');
  const server = createServer({
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
  });
  const connections = new Connections(server, limits, options.events ?? noEvents);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    connections.begin({ request, response, startedMs: performance.now(), end() {} });
    application(request, response);
  });
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await drain(server, connections, { graceMs: 0, timeoutMs: 0 })) };
}
