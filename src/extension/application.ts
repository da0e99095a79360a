import { hooks } from '../hooks/index.ts';
import { firstJsonValue, isJsonObject, type Json, JsonError, parseJson } from '../kubernetes/index.ts';
import {
  type Application,
  type BodyRefusal,
  type Foundation,
  receiveBody,
  refusal,
  refuseUnread,
  replying,
  type TrackedResponse,
} from '../server/index.ts';
import { type CallResult, call } from './call.ts';
import { discoveryOf } from './discovery.ts';
import { goDurationMs } from './duration.ts';
import type { Handler } from './handler.ts';
import type { CallMetrics } from './metrics.ts';

/** Says what is sent in place of a handler's answer: another body, another HTTP status, or (undefined) nothing else. */
export type ReplaceAnswer = (handler: string) => { body?: string | undefined; code?: number | undefined } | undefined;

/** How long a handler may still answer when the caller's time is over, in milliseconds: its signal has told it so. */
const graceMs = 500;

/** What the application needs beside the server. */
export interface ApplicationOptions {
  handlers: readonly Handler[];
  /** What all paths begin with (`service.path` of the ExtensionConfig): empty, or with a slash in front and none behind. */
  prefix: string;
  metrics: CallMetrics;
  replaceAnswer?: ReplaceAnswer | undefined;
}

/** How long Cluster API waits for an answer where nobody says, in seconds. */
const defaultTimeoutSeconds = 10;
/** Longest time that a call may take, in milliseconds: that of Cluster API. */
const maxTimeoutMs = 30_000;

const pathOf = (hook: { group: string; version: string; name: string }, handler?: string) =>
  `/${hook.group}/${hook.version}/${hook.name.toLowerCase()}${handler === undefined ? '' : `/${handler.toLowerCase()}`}`;

/** A path with hook and handler in lower case; group and version stay. */
function normalized(path: string): string {
  const [first, group, version, ...rest] = path.split('/', 6);
  return [first, group, version, ...rest.map((segment) => segment.toLowerCase())].join('/');
}

/** The `timeout` of a call's query in milliseconds; undefined where it is absent or not a duration. */
function timeoutOf(query: string): number | undefined {
  const text = /(?:^|&)timeout=([^&]*)/.exec(query)?.[1];
  return text === undefined ? undefined : goDurationMs(text);
}

/** The first JSON value of a body; what comes behind it is left alone, as by Go's decoder. */
function firstValue(bytes: Buffer): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const first = firstJsonValue(bytes);
    if (error instanceof JsonError && first.length < bytes.length) {
      return parseJson(first);
    }
    throw error;
  }
}

/** As `timeoutOf`, remembering the last query: a caller gives the same one with each call. */
function timeoutReader(): (query: string) => number | undefined {
  let last: { query: string; ms: number | undefined } | undefined;
  return (query) => {
    if (last?.query !== query) {
      last = { query, ms: timeoutOf(query) };
    }
    return last.ms;
  };
}

/** Why a body is not JSON, in the words of Go's server. */
const unreadable = (problem: string) => ({ status: 'Failure', message: `error unmarshalling request: ${problem}` });

/**
 * What a request with too large or a compressed body gets: a Failure, as from Go's server. An HTTP error would let through
 * what a handler with `failurePolicy: Ignore` has never seen. A server without room is one that cannot be reached.
 */
const unread = ({ code, message }: BodyRefusal) =>
  code === 503 ? undefined : { status: 'Failure', message: `error reading request: ${message}` };

/** What a response begins with. A handler's own fields come behind it. */
function envelopeOf({ hook }: Handler) {
  return { apiVersion: `${hook.group}/${hook.version}`, kind: hook.response.kind };
}

/** What answers on the port of an extension server. */
export function createApplication(foundation: Foundation, options: ApplicationOptions): Application {
  const { connections, log, maxBodyBytes, metrics: serverMetrics, monotonicNow } = foundation;
  const { handlers, prefix, metrics, replaceAnswer } = options;
  const reply = replying(foundation);
  const timeoutIn = timeoutReader();

  function parsed(bytes: Buffer): { value: Json } | { problem: string } {
    try {
      const value = firstValue(bytes);
      return isJsonObject(value) ? { value } : { problem: 'the body is not a JSON object' };
    } catch (error) {
      if (error instanceof JsonError) {
        return { problem: bytes.length === 0 ? 'the body is empty' : error.message };
      }
      throw error;
    }
  }

  function finish(
    hook: string,
    handler: string,
    answered: { result: CallResult; code?: number; text: string; retryAfterSeconds?: Json | undefined },
    response: TrackedResponse,
    startedMs: number,
  ): void {
    const { result, code = 200, text, retryAfterSeconds } = answered;
    reply(response, code, text);
    const durationMs = monotonicNow() - startedMs;
    metrics.called(hook, handler, result, durationMs / 1000);
    const fields = { result, durationMs: Math.round(durationMs * 1000) / 1000 };
    if (result === 'blocking') {
      log.info({ hook, handler, ...fields, retryAfterSeconds }, 'call answered');
    } else {
      log.info(handler === '' ? { hook, ...fields } : { hook, handler, ...fields }, 'call answered');
    }
  }

  const discovery = JSON.stringify(discoveryOf(handlers));
  function discover(bytes: Buffer, response: TrackedResponse, startedMs: number): void {
    const body = parsed(bytes);
    const answered =
      'problem' in body
        ? ({ result: 'invalid request', text: JSON.stringify(unreadable(body.problem)) } as const)
        : ({ result: 'success', text: discovery } as const);
    finish(hooks.Discovery.name, '', answered, response, startedMs);
  }

  function serve(handler: Handler, query: string) {
    const { name, hook, timeoutSeconds } = handler;
    const timeoutMs = Math.min(timeoutIn(query) ?? (timeoutSeconds ?? defaultTimeoutSeconds) * 1000, maxTimeoutMs);
    return async (bytes: Buffer, response: TrackedResponse, startedMs: number) => {
      // However long the handler takes, its call is not taken for one of a client that stands still.
      connections.holdDecision(response);
      const body = parsed(bytes);
      if ('problem' in body) {
        const text = JSON.stringify({ ...envelopeOf(handler), ...unreadable(body.problem) });
        finish(hook.name, name, { result: 'invalid request', text }, response, startedMs);
        return;
      }
      const ending = new AbortController();
      const { promise: ended, resolve: end } = Promise.withResolvers<'late' | 'gone'>();
      let lateTimer: NodeJS.Timeout | undefined;
      const timer = setTimeout(() => {
        lateTimer = setTimeout(() => end('late'), graceMs);
        ending.abort(new DOMException(`the caller waits for ${timeoutMs / 1000} s only`, 'TimeoutError'));
      }, timeoutMs);
      const onClose = () => {
        end('gone');
        ending.abort(new DOMException('the caller has gone', 'AbortError'));
      };
      response.once('close', onClose);
      const outcome = await Promise.race([call(handler, body.value, { signal: ending.signal, log }), ended]);
      clearTimeout(timer);
      clearTimeout(lateTimer);
      response.off('close', onClose);
      if (outcome === 'gone') {
        metrics.called(hook.name, name, 'error', (monotonicNow() - startedMs) / 1000);
        log.warn({ hook: hook.name, handler: name }, 'the caller has gone before its answer');
      } else if (outcome === 'late') {
        // As a call that ends with its time does: failurePolicy applies, which it does not to a Failure.
        const message = `handler ${name} has no answer within ${timeoutMs / 1000} s`;
        log.error({ hook: hook.name, handler: name, timeoutMs }, 'the handler has no answer in time');
        const text = JSON.stringify({ ...envelopeOf(handler), status: 'Failure', message });
        finish(hook.name, name, { result: 'error', code: 504, text }, response, startedMs);
      } else {
        const { response: answered, result } = outcome;
        const replaced = replaceAnswer?.(name);
        finish(
          hook.name,
          name,
          {
            result,
            code: replaced?.code ?? 200,
            text: replaced?.body ?? JSON.stringify({ ...envelopeOf(handler), ...answered }),
            retryAfterSeconds: answered.retryAfterSeconds,
          },
          response,
          startedMs,
        );
      }
    };
  }

  const routes = new Map<string, Handler | 'discovery'>([[pathOf(hooks.Discovery), 'discovery']]);
  for (const handler of handlers) {
    routes.set(pathOf(handler.hook, handler.name), handler);
  }

  return (request, response) => {
    const startedMs = monotonicNow();
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const own = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const route = routes.get(own) ?? routes.get(normalized(own));
    if (route === undefined) {
      serverMetrics.refused(404);
      log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
      const message = `page not found: no handler of this extension has the path; ${prefix}${pathOf(hooks.Discovery)} lists them`;
      refuseUnread(request, response, refusal(404, message), maxBodyBytes);
      return;
    }
    const onBody = route === 'discovery' ? discover : serve(route, mark === -1 ? '' : url.slice(mark + 1));
    const wording = (refused: BodyRefusal) => {
      const failure = unread(refused);
      if (failure === undefined) {
        return undefined;
      }
      const [hook, handler] = route === 'discovery' ? [hooks.Discovery.name, ''] : [route.hook.name, route.name];
      metrics.called(hook, handler, 'invalid request', (monotonicNow() - startedMs) / 1000);
      log.warn({ hook, ...(handler !== '' && { handler }), problem: refused.message }, 'request refused');
      return {
        code: 200,
        text: JSON.stringify(route === 'discovery' ? failure : { ...envelopeOf(route), ...failure }),
      };
    };
    receiveBody(
      foundation,
      'any request',
      request,
      response,
      (bytes) => {
        void onBody(bytes, response, startedMs);
      },
      wording,
    );
  };
}
