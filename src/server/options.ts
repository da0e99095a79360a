import type { Logger } from 'pino';
import type { CertificateSource } from './certificates/certificate-source.ts';
import type { Limits } from './connections/limits.ts';
import type { Address } from './connections/listen.ts';
import type { Application, Foundation } from './requests/application.ts';

/** Options of a server. */
export interface ServerOptions {
  /** Handles the requests of allowed clients on the main port. */
  application: (foundation: Foundation) => Application;
  /** Name of the main port in the log, in metrics and in readiness checks. */
  name: string;
  /** Prefix of the names of metrics. */
  metricsPrefix: string;
  certificates: CertificateSource;
  /** Whether to offer HTTP/2 besides HTTP/1.1. Default: HTTP/1.1 only. */
  http2?: boolean | undefined;
  /** Requests client certificates issued by these CAs. */
  clients?: { caFile: string; allowedNames: readonly string[] } | undefined;
  main: Address;
  /** Undefined for a server that nobody probes. */
  health: Address | undefined;
  limits?: Partial<Limits> | undefined;
  log: Logger;
  /** Number of lines of the log that could not be written, if that is known. */
  lostLogLines?: (() => number) | undefined;
  version: string;
  /** Whether to add the process's own metrics, which may be registered only once per process. */
  processMetrics: boolean;
  now: () => Date;
  /** How often the client CA file is read when no event reports a change, in milliseconds. */
  pollMs?: number | undefined;
}
