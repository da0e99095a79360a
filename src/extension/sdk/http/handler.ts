import type { Log } from '../../../base/index.ts';
import { goDurationMs, isJsonObject, type Json, JsonError, parseFirstJson } from '../../../kubernetes/index.ts';
import { defaultTimeoutSeconds, hooks, maxTimeoutSeconds } from '../../../runtimehooks/index.ts';
import type { Exchange, Handler as HttpHandler, Refusal } from '../../../server/index.ts';
import { callInTime, failed, type HandledCall, textOf } from '../calls/call.ts';
import { createLoopWatch, type LoopWatch } from '../calls/event-loop.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import { answersOf } from '../handlers/answer.ts';
import type { Handler } from '../handlers/handler.ts';
import type { CounterOf } from './metrics.ts';

/** Replaces a handler's answer: with another body, another HTTP status, or (undefined) not at all. */
export type ReplaceAnswer = (handler: string) => { body?: string | undefined; code?: number | undefined } | undefined;

interface RouteContext {
  log: Log;
  counterOf: CounterOf;
  replaceAnswer?: ReplaceAnswer | undefined;
  lifetime: Lifetime;
  loop: LoopWatch;
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
function callTimeoutMs(query: string, handlerSeconds = defaultTimeoutSeconds): number {
  const ms = goDurationMs(/(?:^|&)timeout=([^&]*)/.exec(query)?.[1] ?? '') ?? 0;
  // 0 counts as absent, as it does for API servers: a caller that waits for nothing would not call.
  return Math.min(ms > 0 ? ms : handlerSeconds * 1000, maxTimeoutSeconds * 1000);
}

/** The handling of one path. Everything that its calls have in common is prepared once. */
function routeOf(handler: Handler, context: RouteContext): HttpHandler {
  const { log, counterOf, replaceAnswer } = context;
  const { name, hook, timeoutSeconds } = handler;
  const failure = (message: string) => textOf(handler, failed(handler, message));
  const names = { hook: hook.name, ...(name !== '' && { handler: name }) };
  const counted = counterOf(hook.name, name);
  // The names are serialized once.
  const callLog = log.child(names);

  /** Returns how long the call took, in milliseconds, to the microsecond. */
  function count(result: HandledCall, { startedMs }: Exchange): number {
    const durationMs = performance.now() - startedMs;
    counted(result, durationMs / 1000);
    return Math.round(durationMs * 1000) / 1000;
  }
  function finish(result: HandledCall, answer: { code: number; text: string }, exchange: Exchange, more = {}): void {
    exchange.respond(answer);
    const durationMs = count(result, exchange);
    callLog.info({ ...more, result, durationMs }, 'call answered');
  }
  /**
   * The response to a request with a compressed or oversized body is a Failure, as from Go's server, since an HTTP error
   * would be ignored for a handler with `failurePolicy: Ignore`. A server without room counts as unreachable.
   */
  function refuse(refusal: Refusal, exchange: Exchange): void {
    if (refusal.code === 503) {
      exchange.refuse(refusal);
      return;
    }
    count('invalid request', exchange);
    log.warn({ ...names, problem: refusal.message }, 'request refused');
    exchange.refuse(refusal, { code: 200, text: failure(`error reading request: ${refusal.message}`) });
  }

  async function handle(body: Buffer | Refusal, exchange: Exchange): Promise<void> {
    if (!(body instanceof Uint8Array)) {
      refuse(body, exchange);
      return;
    }
    const read = readRequest(body);
    if ('problem' in read) {
      finish('invalid request', { code: 200, text: failure(read.problem) }, exchange);
      return;
    }
    const timeoutMs = callTimeoutMs(exchange.query, timeoutSeconds);
    const called = callInTime(handler, read.request, () => exchange.gone, timeoutMs, context);
    const outcome = called instanceof Promise ? await called : called;
    const durationMs = Math.round(performance.now() - exchange.startedMs);
    const hint = 'answer within milliseconds, and let createJobs do long work';
    if (outcome === 'gone') {
      // Cluster API disconnects when its timeout expires.
      count('error', exchange);
      log.warn({ ...names, timeoutMs, durationMs }, `the caller disconnected before its answer: ${hint}`);
    } else if (outcome === 'late') {
      // As when the call times out at the caller: failurePolicy applies, unlike for a Failure.
      log.error({ ...names, timeoutMs, durationMs }, `the handler did not answer in time: ${hint}`);
      const text = failure(`handler ${name} did not answer within ${timeoutMs / 1000} s`);
      finish('error', { code: 504, text }, exchange);
    } else {
      const { response, result, cluster } = outcome;
      const { body: text = outcome.text, code = 200 } = replaceAnswer?.(name) ?? {};
      const wait = result === 'blocking' ? { retryAfterSeconds: response.retryAfterSeconds } : {};
      finish(result, { code, text }, exchange, { cluster, ...wait });
    }
  }
  return (exchange) => exchange.readBody('any request', (body) => handle(body, exchange));
}

export interface HandlerOptions extends Omit<RouteContext, 'loop'> {
  handlers: readonly Handler[];
  /** Prefix of all paths: empty, or with a leading slash and no trailing one. */
  prefix: string;
}

const pathOf = ({ hook, name }: Handler) =>
  `/${hook.group}/${hook.version}/${hook.name}${name === '' ? '' : `/${name}`}`.toLowerCase();

export function createHttpHandler({ handlers, prefix, ...options }: HandlerOptions): HttpHandler {
  const context = { ...options, loop: createLoopWatch(options.log, options.lifetime.stopping) };
  const discovery = discoveryOf(handlers);
  const routes = new Map([discovery, ...handlers].map((handler) => [pathOf(handler), routeOf(handler, context)]));

  return (exchange) => {
    const { path } = exchange;
    const route = path.startsWith(prefix) ? routes.get(path.slice(prefix.length)) : undefined;
    if (route === undefined) {
      context.log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
      const message = `page not found: no handler of this extension has this path; ${prefix}${pathOf(discovery)} lists them`;
      exchange.refuse({ code: 404, message });
      return;
    }
    return route(exchange);
  };
}
