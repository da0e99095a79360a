import type { IncomingMessage, ServerResponse } from 'node:http';
import { Registry } from 'prom-client';
import type { Log } from '../../base/index.ts';
import { createRefuse, InFlight, type Limits, limitsWith } from '../../server/index.ts';
import { createLifetime } from './calls/lifetime.ts';
import { acceptedHandlers } from './handlers/check-handlers.ts';
import type { Handler } from './handlers/handler.ts';
import { createCallMetrics } from './http/metrics.ts';
import { createHookRouter, extensionLimits } from './http/router.ts';
import { defaultLog } from './log.ts';

/** Options of an extension in an application of yours. */
export interface ExtensionRouterOptions {
  /** The handlers; Discovery lists them in this order. */
  handlers: readonly Handler[];
  /** The limits of bodies. Default: 20 MiB each, and 256 MiB of bodies and responses in memory. */
  limits?: Partial<Pick<Limits, 'maxBodyBytes' | 'maxInFlightBytes'>> | undefined;
  /** Default: JSON lines on stdout. */
  log?: Log | undefined;
  /** Level of the default log: `trace`, `debug`, `info`, `warn`, `error` or `fatal`. Default: `info`. */
  logLevel?: string | undefined;
}

/** Handlers as a router for Express. */
export interface ExtensionRouter {
  /** Answers calls and Discovery; `next` gets all other requests. */
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  /** Problems that will show later, one per line, which are logged. */
  readonly warnings: readonly string[];
  /** The metrics of calls in Prometheus' text format. */
  metrics(): Promise<string>;
  /**
   * To be called when the application stops: aborts work in the background (`createJobs`), and waits for its end.
   *
   * @returns the names of the work that did not end within `timeoutMs` milliseconds.
   */
  stop(timeoutMs: number): Promise<readonly string[]>;
}

/**
 * Creates a router with these handlers, to mount an extension in an Express application of yours; `service.path` of the
 * ExtensionConfig is where it is mounted. Mount it before `express.json()`, since it reads bodies itself, within limits. TLS,
 * and what limits connections, are then your application's; `createExtensionServer` brings both.
 *
 * ```ts
 * const extension = createExtensionRouter({ handlers: [waitForBackups] });
 * const application = express();
 * application.use('/extensions/backup', extension);
 * application.use(express.json());
 * createServer({ cert, key }, application).listen(9443);
 * ```
 *
 * @throws {HandlersError} when Cluster API would reject the handlers: all problems at once.
 * @throws {TypeError} for a limit that cannot be used; the message names it.
 */
export function createExtensionRouter(options: ExtensionRouterOptions): ExtensionRouter {
  const { handlers } = options;
  const warnings = acceptedHandlers(handlers);
  const limits = limitsWith(extensionLimits, options.limits);
  const log = options.log ?? defaultLog(options.logLevel).log;
  for (const warning of warnings) {
    log.warn(warning);
  }
  const registry = new Registry();
  const lifetime = createLifetime();
  const router = createHookRouter({
    handlers,
    limits,
    inFlight: new InFlight(limits.maxInFlightBytes),
    refuse: createRefuse(log),
    countCall: createCallMetrics(registry),
    lifetime,
    log,
  });
  return Object.assign(router as unknown as ExtensionRouter, {
    warnings,
    metrics: () => registry.metrics(),
    stop: (timeoutMs: number) => lifetime.end(timeoutMs),
  });
}
