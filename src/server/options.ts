import type { Logger } from 'pino';
import type { CertificateSource } from './certificate-source.ts';
import type { Connections } from './connections.ts';
import type { Limits } from './limits.ts';
import type { Address } from './listen.ts';
import type { Metrics } from './metrics.ts';
import type { TrackedRequest, TrackedResponse } from './tracked.ts';

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
