import type { Logger } from 'pino';
import type { Connections, TrackedRequest, TrackedResponse } from '../connections/index.ts';
import type { Metrics } from '../health/index.ts';

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
