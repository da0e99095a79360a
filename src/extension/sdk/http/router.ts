import { type ErrorRequestHandler, Router } from 'express';
import type { Log } from '../../../base/index.ts';
import { goDurationMs, isJsonObject, type Json, JsonError, parseFirstJson } from '../../../kubernetes/index.ts';
import { defaultTimeoutSeconds, hooks, maxTimeoutSeconds } from '../../../runtimehooks/index.ts';
import { compileChecks } from '../../../runtimehooks/messages/index.ts';
import {
  type Answer,
  type BodyHandler,
  type BodyResponse,
  createBody,
  defaultLimits,
  type InFlight,
  type Limits,
  Refusal,
  type ServerContext,
} from '../../../server/index.ts';
import { callInTime, failed, type HandledCall, textOf } from '../calls/call.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import { answersOf } from '../handlers/answer.ts';
import type { Handler } from '../handlers/handler.ts';
import type { CountCall } from './metrics.ts';

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
  countCall: CountCall;
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

/**
 * How long a caller waits for an answer, in milliseconds: according to the query of the call, else to the handler, and
 * never longer than Cluster API.
 */
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

/** The handlers of one path, behind `body`. Everything that its calls have in common is prepared once. */
function routeOf(handler: Handler, context: RouteContext): [BodyHandler, ErrorRequestHandler] {
  const { log, inFlight, countCall } = context;
  const { name, hook, timeoutSeconds } = handler;
  const failure = (message: string) => textOf(handler, failed(handler, message));
  const names = { hook: hook.name, ...(name !== '' && { handler: name }) };
  // The names are serialized once.
  const callLog = log.child(names);

  /** Returns how long the call took, in milliseconds, to the microsecond. */
  function count(result: HandledCall, { locals }: BodyResponse): number {
    const durationMs = performance.now() - locals.startedMs;
    countCall({ hook: hook.name, handler: name, result, seconds: durationMs / 1000 });
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
  /**
   * The response to a request with a compressed or oversized body is a Failure, as from Go's server, since an HTTP error
   * would be ignored for a handler with `failurePolicy: Ignore`. A server without room counts as unreachable.
   */
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

interface RouterOptions extends RouteContext, Pick<ServerContext, 'limits' | 'refuse'> {
  handlers: readonly Handler[];
}

const pathOf = ({ hook, name }: Pick<Handler, 'hook' | 'name'>) =>
  `/${hook.group}/${hook.version}/${hook.name}${name === '' ? '' : `/${name}`}`.toLowerCase();

export const discoveryPath = pathOf({ hook: hooks.Discovery, name: '' });

/** The routes of handlers, and of their Discovery. Calls may have any method, and any content type, as those of Go's server. */
export function createHookRouter({ handlers, limits, refuse, ...context }: RouterOptions): Router {
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
