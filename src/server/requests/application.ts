import type { Logger } from 'pino';
import type { Connections } from '../connections/connections.ts';
import type { TrackedRequest, TrackedResponse } from '../connections/tracked.ts';
import type { Metrics } from '../health/metrics.ts';

/** The server as its application sees it. */
export interface Foundation {
  metrics: Metrics;
  log: Logger;
  maxBodyBytes: number;
  connections: Pick<Connections, 'holdBody' | 'holdDecision' | 'holdResponse' | 'leave'>;
  /** Returns milliseconds of a monotonic clock. */
  monotonicNow: () => number;
  /** Whether to tell clients to close their connections. */
  isDraining: () => boolean;
}

/** Handles requests. */
export type Application = (request: TrackedRequest, response: TrackedResponse) => void;
