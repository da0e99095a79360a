import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express, RequestHandler } from 'express';
import type { Log } from '../../base/index.ts';
import {
  type CertificateSource,
  createApplication,
  fileCertificates,
  type Limits,
  ListenError,
  limitsWith,
  Refusal,
  type RunningServer,
  startServer,
  stopInTime,
} from '../../server/index.ts';
import { createLifetime, type EndedLifetime } from './calls/lifetime.ts';
import { prepareDevelopment } from './development.ts';
import { acceptedHandlers, type Handler } from './handlers/handler.ts';
import { checkNumber, isText, prefixOf } from './handlers/options.ts';
import { createHookRouter, discoveryPath, extensionLimits, metricsPrefix } from './http/router.ts';
import { defaultLog, fault } from './log.ts';

/** Where the serving certificate comes from. A renewed certificate is used at once. */
export type ExtensionCertificates =
  /** A folder with `tls.crt` and `tls.key`, such as a mounted Secret. */
  | { folder: string }
  /** For development: keeps a self-signed certificate for localhost, and `extension-config.yaml` for the server. */
  | { development: string; name?: string | undefined };

/** Options of an extension server. */
export interface ExtensionServerOptions {
  /** The handlers; Discovery lists them in this order. */
  handlers: readonly Handler[];
  /** Required for `start` and `run`. */
  certificates?: ExtensionCertificates | undefined;
  /** HTTPS port of the hooks. Default: 9443; 0 lets the system choose. */
  port?: number | undefined;
  /** Address to serve hooks on. Default: all; this machine only with a certificate for development. */
  host?: string | undefined;
  /** HTTP port of /healthz, /readyz and /metrics. Default: 8080; 0 lets the system choose. */
  healthPort?: number | undefined;
  /** Address to serve the health port on. Default: as `host`. */
  healthHost?: string | undefined;
  /** Prefix of all paths: `service.path` of the ExtensionConfig. Default: none. */
  path?: string | undefined;
  /** Allows only clients with a certificate issued by these CAs. Cluster API can send one since 1.11. */
  clients?: { caFile: string; allowedNames?: readonly string[] | undefined } | undefined;
  /** The limits of the server. A header may take no longer than its request, whatever `headersTimeoutMs` is. */
  limits?: Partial<Limits> | undefined;
  /** Default: JSON lines on stdout. */
  log?: Log | undefined;
  /** Level of the default log: `trace`, `debug`, `info`, `warn`, `error` or `fatal`. Default: `info`. */
  logLevel?: string | undefined;
  /** Version of the extension, for metrics. */
  version?: string | undefined;
}

/** Options of an extension server that this program hosts. Another thread may watch the certificates for it. */
export interface HostedExtensionOptions extends Omit<ExtensionServerOptions, 'certificates' | 'healthPort'> {
  certificates?: ExtensionCertificates | CertificateSource | undefined;
  /** `none` for a server that nobody probes. */
  healthPort?: number | 'none' | undefined;
  /** Whether to add metrics of the process, which may be registered only once per process. Default: yes. */
  processMetrics?: boolean | undefined;
  /** Number of lines of `log` that were lost. */
  lostLogLines?: (() => number) | undefined;
}

/** An extension server that is listening. */
export type RunningExtension = RunningServer;

/** An extension server whose handlers Cluster API accepts. */
export interface ExtensionServer {
  readonly handlers: readonly Handler[];
  /** Problems that will show later, one per line; `start` logs them. */
  readonly warnings: readonly string[];
  /** Starts listening; not ready without a certificate. @throws {ListenError} for a port that is taken or forbidden. */
  start(): Promise<RunningExtension>;
  /**
   * Listens until SIGTERM or SIGINT, and then shuts down gracefully: it is not ready at once, accepts connections until endpoints
   * have been updated (in a cluster), finishes calls in flight, aborts `createJobs`, and ends the process after 25 s at most.
   */
  run(): Promise<void>;
}

/** How long connections are accepted after SIGTERM in a pod, and how long the shutdown may take, in milliseconds. */
const shutdown = { delayMs: 10_000, timeoutMs: 25_000 };

function createExtensionApplication(prefix: string, context: Parameters<typeof createHookRouter>[0]): Express {
  const application = createApplication();
  // What Express would read as a pattern is meant to the letter.
  application.use(prefix.replaceAll(/[{}()[\]+?!:*\\]/g, '\\$&') || '/', createHookRouter(context));
  const noSuchHandler: RequestHandler = ({ path }) => {
    context.log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
    throw new Refusal(404, `page not found: no handler has this path; ${prefix}${discoveryPath} lists them`);
  };
  application.use(noSuchHandler, context.refuse);
  return application;
}

function sourceOf(certificates: HostedExtensionOptions['certificates'] = { folder: '' }): CertificateSource {
  if (typeof certificates === 'function') {
    return certificates;
  }
  const path = 'folder' in certificates ? certificates.folder : certificates.development;
  // An empty one would be the current folder.
  if (!isText(path)) {
    throw new TypeError('certificates: pass a folder ({ folder }) or, for development, { development: FOLDER }');
  }
  return fileCertificates(path);
}

/**
 * Creates an extension server with these handlers.
 *
 * ```ts
 * await createExtensionServer({ handlers: [waitForBackups], certificates: { folder: '/certificates' } }).run();
 * ```
 *
 * @throws {HandlersError} when Cluster API would reject the handlers: all problems at once.
 * @throws {RangeError} for a port that is not one.
 * @throws {TypeError} for a path, a limit or certificates that cannot be used; the message names the option.
 */
export function createExtensionServer(options: ExtensionServerOptions): ExtensionServer {
  return createHostedExtension(options);
}

/** Creates an extension server that this program hosts. @throws {HandlersError} as `createExtensionServer`. */
export function createHostedExtension(options: HostedExtensionOptions): ExtensionServer {
  const { handlers, clients, port = 9443, healthPort = 8080 } = options;
  for (const [option, number] of Object.entries({ port, healthPort })) {
    if (number !== 'none') {
      checkNumber(option, number, { min: 0, max: 65_535, isWhole: true });
    }
  }
  if (clients !== undefined && !isText(clients.caFile)) {
    throw new TypeError('clients: pass a file with the CAs of clients ({ caFile })');
  }
  const warnings = acceptedHandlers(handlers);
  const prefix = prefixOf(options.path);
  const { certificates } = options;
  const { development, name = 'extension' } =
    certificates !== undefined && 'development' in certificates ? certificates : {};
  // Empty as a variable of the environment that is not set: for Node.js, that would be all interfaces.
  const host = options.host || (isText(development) ? 'localhost' : undefined);
  const limits = limitsWith(extensionLimits, options.limits);
  const { log, lostLines } =
    options.log === undefined ? defaultLog(options.logLevel) : { log: options.log, lostLines: options.lostLogLines };

  async function start(lifetime: EndedLifetime): Promise<RunningExtension> {
    const writeConfig = isText(development) ? prepareDevelopment(development, new Date()) : undefined;
    const source = sourceOf(certificates);
    for (const warning of warnings) {
      log.warn(warning);
    }
    const running = await startServer({
      application: (context) =>
        createExtensionApplication(prefix, {
          ...context,
          handlers,
          lifetime,
          registry: context.metrics.registry,
        }),
      name: 'extension',
      metricsPrefix,
      certificates: source,
      clients: clients && { caFile: clients.caFile, allowedNames: clients.allowedNames ?? [] },
      main: { host, port },
      health: healthPort === 'none' ? undefined : { host: options.healthHost || host, port: healthPort },
      limits,
      log,
      lostLogLines: lostLines,
      version: options.version ?? 'unknown',
      processMetrics: options.processMetrics ?? true,
      now: () => new Date(),
    }).catch((error: unknown) => {
      if (error instanceof ListenError) {
        error.message += error.port === 'main' ? ' (options port and host)' : ' (options healthPort and healthHost)';
      }
      throw error;
    });
    if (writeConfig !== undefined) {
      const file = writeConfig(name, running.port, prefix);
      log.info({ file }, 'ExtensionConfig written: try discover -f and call -f');
    }
    return {
      ...running,
      async stop(how) {
        await Promise.all([running.stop(how), lifetime.end(how.timeoutMs)]);
      },
    };
  }
  return {
    handlers,
    warnings,
    start: () => start(createLifetime()),
    async run() {
      const signalled = new AbortController();
      const stop = (signal: NodeJS.Signals) => signalled.abort(signal);
      // Such as a rejection that nobody awaits. Node.js ends the process, and prints the error where no log collector reads.
      const crashed = (error: Error, origin: string) => log.fatal({ ...fault(error), origin }, 'the process ends');
      process.once('SIGTERM', stop).once('SIGINT', stop).once('uncaughtExceptionMonitor', crashed);
      const lifetime = createLifetime();
      const running = await start(lifetime);
      if (!signalled.signal.aborted) {
        await once(signalled.signal, 'abort');
      }
      const inPod = process.env.KUBERNETES_SERVICE_HOST !== undefined && signalled.signal.reason === 'SIGTERM';
      const closeAfter = inPod ? sleep(shutdown.delayMs) : undefined;
      const inTime = await stopInTime(log, shutdown.timeoutMs, async (timeoutMs) => {
        await running.stop({ closeAfter, timeoutMs });
        const unfinished = await lifetime.end(0);
        if (unfinished.length > 0) {
          log.error({ unfinished }, 'the process ends while this work runs: it does not observe its signal');
          process.exitCode = 1;
        }
      });
      process.off('SIGTERM', stop).off('SIGINT', stop).off('uncaughtExceptionMonitor', crashed);
      if (!inTime || process.exitCode === 1) {
        // That work, or lines of the log that nobody reads, would keep the process until it is killed.
        process.exit();
      }
    },
  };
}
