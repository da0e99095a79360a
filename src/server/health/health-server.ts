import type { Logger } from 'pino';
import type { ConnectionEvents } from '../connections/connection-limits.ts';
import { trackConnections } from '../connections/connections.ts';
import { defaultLimits, healthLimits, type Limits } from '../connections/limits.ts';
import { type Address, listen } from '../connections/listen.ts';
import { createServer } from '../connections/node-http.ts';
import { Http1Response } from '../connections/tracked.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

/** Options of a health port. */
export interface HealthServerOptions {
  address: Address;
  readiness(): Readiness;
  metrics: Pick<Metrics, 'contentType' | 'render'>;
  limits?: Limits;
  events?: ConnectionEvents;
  log: Logger;
}

/** A health port that is listening. */
export interface HealthServer {
  port: number;
  /** Closes the port at once. */
  stop(): Promise<void>;
}

const noEvents: ConnectionEvents = { evicted() {}, dropped() {}, responseDropped() {}, requestLate() {} };

/**
 * Opens a plain HTTP port for /healthz, /livez, /readyz and /metrics.
 *
 * @throws {ListenError} when the port is taken or not allowed.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { limits = defaultLimits, events = noEvents } = options;
  // Only here: Express, which it is made with, is larger than everything else that a server without this port loads.
  const { createHealthApplication } = await import('./health.ts');
  const server = createServer(
    {
      ServerResponse: Http1Response,
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: healthLimits.headersTimeoutMs,
      requestTimeout: healthLimits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      keepAliveTimeout: 0,
    },
    createHealthApplication(options.readiness, options.metrics, options.log),
  );
  const connections = trackConnections(server, { ...limits, ...healthLimits }, events);
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await connections.drain({ graceMs: 0, timeoutMs: 0 })) };
}
