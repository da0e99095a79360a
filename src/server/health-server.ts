import { createServer } from 'node:http';
import type { Log } from '../base/index.ts';
import { createHealthApplication } from './application/health.ts';
import type { Metrics } from './application/metrics.ts';
import type { Readiness } from './application/readiness.ts';
import { createRefuse } from './application/refusal.ts';
import { type ConnectionEvents, Connections } from './connections/connections.ts';
import { healthLimits, nodeLimits } from './limits.ts';
import { type Address, listen } from './listen.ts';

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
  const { readiness, metrics, events = noEvents, log } = options;
  const server = createServer(nodeLimits(healthLimits));
  const refuse = createRefuse(log);
  const application = createHealthApplication(readiness, metrics, refuse);
  const connections = new Connections(server, { limits: healthLimits, events, application, refuse });
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await connections.stop({ graceMs: 0, timeoutMs: 0 })) };
}
