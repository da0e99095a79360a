import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorRequestHandler, Router } from 'express';
import { Registry } from 'prom-client';
import type { Log } from '../../../base/index.ts';
import { metricsIn } from '../../../base/metrics/index.ts';
import { goDurationMs, isJsonObject, type Json, JsonError, parseFirstJson } from '../../../kubernetes/index.ts';
import { defaultTimeoutSeconds, hooks, maxTimeoutSeconds } from '../../../runtimehooks/index.ts';
import { compileChecks } from '../../../runtimehooks/messages/index.ts';
import {
  type Answer,
  type BodyHandler,
  type BodyResponse,
  createBody,
  createRefuse,
  defaultLimits,
  InFlight,
  type Limits,
  limitsWith,
  Refusal,
  type ServerContext,
} from '../../../server/index.ts';
import { callInTime, failed, type HandledCall, textOf } from '../calls/call.ts';
import { createLifetime, type Lifetime } from '../calls/lifetime.ts';
import { answersOf } from '../handlers/answer.ts';
import { acceptedHandlers, type Handler } from '../handlers/handler.ts';
import { defaultLog } from '../log.ts';

export const metricsPrefix = 'runtime_extension_';

/** Upper bounds in seconds: external patches should take 0.2 s at most; 30 s is Cluster API's longest timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

/** Adds the metrics of calls to the server's, and counts calls; the name of the handler is empty for Discovery. */
export function createCallMetrics(registry: Registry) {
  const { counter, histogram } = metricsIn(registry, metricsPrefix);
  const calls = counter(
    'calls_total',
    'Calls answered, by hook, handler (empty for Discovery) and result: success, blocking, failure, invalid request, error (the handler threw), invalid answer.',
    ['hook', 'handler', 'result'],
  );
  const durations = histogram(
    'call_duration_seconds',
    'Time from the header of a call to its response, by hook and handler.',
    ['hook', 'handler'],
    buckets,
  );
  return (hook: string, handler: string, result: HandledCall, seconds: number) => {
    calls.inc({ hook, handler, result });
    durations.observe({ hook, handler }, seconds);
  };
}

/** The limits of an extension that differ from those of the webhook server. */
export const extensionLimits: Limits = {
  ...defaultLimits,
  // As in Cluster API's own server. The largest requests hold all templates of a Cluster.
  maxBodyBytes: 20 * 1024 * 1024,
  // A handler has at most 30 s; this is measured from the end of the request.
  responseTimeoutMs: 40_000,
};

interface RouteContext {
  log: Log;
  inFlight: InFlight;
  countCall: ReturnType<typeof createCallMetrics>;
  lifetime: Lifetime;
}

/** The JSON object at the start of a body, or why there is none, worded as by Go's server. */
function readRequest(bytes: Buffer): { request: Json } | { problem: string } {
  const unreadable = (problem: string) => ({ problem: `error unmarshalling request: ${problem}` });
  try {
    const request = parseFirstJson(bytes);
    return isJsonObject(request) ? { request } : unreadable('the body is not a JSON object');
  } catch (error) {
    if (error instanceof JsonError) {
      return unreadable(bytes.length === 0 ? 'the body is empty' : error.message);
    }
    throw error;
  }
}

/** Discovery as a handler: it lists the others in the order of the list, so that all replicas respond alike. */
function discoveryOf(handlers: readonly Handler[]): Handler {
  const listed = handlers.map(({ name, hook, timeoutSeconds, failurePolicy }) => ({
    name,
    requestHook: { apiVersion: `${hook.group}/${hook.version}`, hook: hook.name },
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(failurePolicy !== undefined && { failurePolicy }),
  }));
  const answer = answersOf(hooks.Discovery).done({ handlers: listed });
  return { name: '', hook: hooks.Discovery, handle: () => answer };
}

/** How long a caller waits, in milliseconds: by the query of the call, else by the handler, at most as long as Cluster API. */
function callTimeoutMs(url: string, handlerSeconds = defaultTimeoutSeconds): number {
  const query = url.slice(url.indexOf('?') + 1);
  const ms = goDurationMs(/(?:^|&)timeout=([^&]*)/.exec(query)?.[1] ?? '') ?? 0;
  // 0 counts as absent, as it does for API servers: a caller that waits for nothing would not call.
  return Math.min(ms > 0 ? ms : handlerSeconds * 1000, maxTimeoutSeconds * 1000);
}

/** A signal that is aborted when the client disconnects before its response. */
function goneOf(response: BodyResponse): AbortSignal {
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.headersSent) {
      gone.abort();
    }
  });
  return gone.signal;
}

/** The handlers of one path, behind `body`. */
function routeOf(handler: Handler, context: RouteContext): [BodyHandler, ErrorRequestHandler] {
  const { log, inFlight, countCall } = context;
  const { name, hook, timeoutSeconds } = handler;
  const failure = (message: string) => textOf(handler, failed(handler, message));
  const names = { hook: hook.name, ...(name !== '' && { handler: name }) };
  const callLog = log.child(names);

  function count(result: HandledCall, { locals }: BodyResponse): number {
    const durationMs = performance.now() - locals.startedMs;
    countCall(hook.name, name, result, durationMs / 1000);
    return Math.round(durationMs * 1000) / 1000;
  }
  function finish(result: HandledCall, answer: Answer, response: BodyResponse, more = {}): void {
    inFlight.send(response, answer);
    const durationMs = count(result, response);
    callLog.info({ ...more, result, durationMs }, 'call answered');
  }

  async function answer(...[request, response]: Parameters<BodyHandler>): Promise<void> {
    const read = readRequest(request.body);
    if ('problem' in read) {
      finish('invalid request', { code: 200, text: failure(read.problem) }, response);
      return;
    }
    const timeoutMs = callTimeoutMs(request.url, timeoutSeconds);
    const outcome = await callInTime(handler, read.request, goneOf(response), timeoutMs, context);
    const durationMs = Math.round(performance.now() - response.locals.startedMs);
    const hint = 'answer within milliseconds, and let createJobs do long work';
    if (outcome === 'gone') {
      // Cluster API disconnects when its timeout expires.
      count('error', response);
      log.warn({ ...names, timeoutMs, durationMs }, `the caller disconnected before its answer: ${hint}`);
    } else if (outcome === 'late') {
      // As when the call times out at the caller: failurePolicy applies, unlike for a Failure.
      log.error({ ...names, timeoutMs, durationMs }, `the handler did not answer in time: ${hint}`);
      const text = failure(`handler ${name} did not answer within ${timeoutMs / 1000} s`);
      finish('error', { code: 504, text }, response);
    } else {
      const { response: answered, text, result, cluster } = outcome;
      const wait = result === 'blocking' ? { retryAfterSeconds: answered.retryAfterSeconds } : {};
      finish(result, { code: 200, text }, response, { cluster, ...wait });
    }
  }
  // A compressed or oversized body gets a Failure, as from Go's server, since an HTTP error would be ignored for a handler
  // with `failurePolicy: Ignore`. A server without room counts as unreachable.
  const refused: ErrorRequestHandler = (error, _request, response, next) => {
    if (!(error instanceof Refusal) || error.code === 503) {
      next(error);
      return;
    }
    const { code, message } = error;
    count('invalid request', response as BodyResponse);
    log.warn({ ...names, problem: message }, 'request refused');
    next(new Refusal(code, message, { code: 200, text: failure(`error reading request: ${message}`) }));
  };
  return [answer, refused];
}

interface RouterOptions extends Omit<RouteContext, 'countCall'>, Pick<ServerContext, 'limits' | 'refuse'> {
  handlers: readonly Handler[];
  registry: Registry;
}

const pathOf = ({ hook, name }: Pick<Handler, 'hook' | 'name'>) =>
  `/${hook.group}/${hook.version}/${hook.name}${name === '' ? '' : `/${name}`}`.toLowerCase();

export const discoveryPath = pathOf({ hook: hooks.Discovery, name: '' });

/** The routes of handlers, and of their Discovery. Calls may have any method, and any content type, as those of Go's server. */
export function createHookRouter({ handlers, limits, refuse, registry, ...options }: RouterOptions): Router {
  const context = { ...options, countCall: createCallMetrics(registry) };
  const body = createBody(limits, context.inFlight, true);
  const router = Router({ caseSensitive: true, strict: true });
  for (const handler of [...handlers, discoveryOf(handlers)]) {
    // Not in the first call, which would take 100 ms longer.
    compileChecks(handler.hook);
    router.all(pathOf(handler), body, ...routeOf(handler, context));
  }
  router.use(refuse);
  return router;
}

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
  /** When the application stops: aborts work of `createJobs`, and returns what did not end within `timeoutMs`. */
  stop(timeoutMs: number): Promise<readonly string[]>;
}

/**
 * A router to mount an extension in an Express application of yours, at `service.path` of the ExtensionConfig, and before
 * `express.json()`, since it reads bodies itself, within limits. TLS, and what limits connections, are your application's;
 * `createExtensionServer` brings both.
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
    registry,
    lifetime,
    log,
  });
  return Object.assign(router as unknown as ExtensionRouter, {
    warnings,
    metrics: () => registry.metrics(),
    stop: (timeoutMs: number) => lifetime.end(timeoutMs),
  });
}
