import { createServer } from 'node:http';
import type { Log } from '../base/index.ts';
import { createHealthApplication } from './application/health.ts';
import type { Metrics } from './application/metrics.ts';
import type { Readiness } from './application/readiness.ts';
import { createRefuse } from './application/refusal.ts';
import type { ConnectionEvents } from './connections/connection.ts';
import { Connections } from './connections/connections.ts';
import { drain } from './connections/drain.ts';
import { closeTimedOut } from './connections/timeouts.ts';
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
  const connections = new Connections(server, healthLimits, events);
  closeTimedOut(server, connections);
  const refuse = createRefuse(log);
  connections.serve(createHealthApplication(readiness, metrics, refuse), refuse);
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await drain(server, connections, { graceMs: 0, timeoutMs: 0 })) };
}
