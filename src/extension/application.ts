import { hooks } from '../hooks/index.ts';
import { isJsonObject, type Json, JsonError, parseFirstJson } from '../kubernetes/index.ts';
import {
  type Application,
  type BodyRefusal,
  createRespond,
  type Foundation,
  receiveBody,
  refusal,
  refuseUnread,
  type TrackedResponse,
} from '../server/index.ts';
import { type CallOutcome, call, type HandledCall } from './call.ts';
import { discoveryOf } from './discovery.ts';
import { goDurationMs } from './duration.ts';
import type { Handler } from './handler.ts';
import type { HandlerMetrics } from './metrics.ts';

/** Replaces what is sent for a handler's answer: another body, another HTTP status, or (undefined) no change. */
export type ReplaceAnswer = (handler: string) => { body?: string | undefined; code?: number | undefined } | undefined;

/** How long a handler may still answer after the caller's timeout, in milliseconds: its signal was aborted then. */
const graceMs = 500;

/** What the application needs besides the server. */
export interface ApplicationOptions {
  handlers: readonly Handler[];
  /**
   * What all paths begin with (`service.path` of the ExtensionConfig): empty, or with a slash in front and none behind.
   */
  prefix: string;
  metrics: HandlerMetrics;
  replaceAnswer?: ReplaceAnswer | undefined;
}

/** How long Cluster API waits for an answer by default, in seconds. */
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

/** Why a body is not JSON, worded as by Go's server. */
const unreadable = (problem: string) => ({ status: 'Failure', message: `error unmarshalling request: ${problem}` });

/**
 * What a request with too large or a compressed body gets: a Failure, as from Go's server. An HTTP error would be
 * ignored for a handler with `failurePolicy: Ignore`. A server without room counts as one that cannot be reached.
 */
const unread = ({ code, message }: BodyRefusal) =>
  code === 503 ? undefined : { status: 'Failure', message: `error reading request: ${message}` };

/** The beginning of a response. A handler's own fields follow. */
function envelopeOf({ hook }: Handler) {
  return { apiVersion: `${hook.group}/${hook.version}`, kind: hook.response.kind };
}

/** How a call ended. */
interface Answered {
  result: HandledCall;
  code?: number | undefined;
  text: string;
  retryAfterSeconds?: Json | undefined;
  cluster?: string | undefined;
}

/** A handler on its path, with what is the same for all of its calls prepared once. */
interface Route {
  /** Answers a call whose body has arrived. */
  answer(bytes: Buffer, response: TrackedResponse, startedMs: number, query: string): void;
  /** The response to a call whose body was not read; undefined for a Status and its HTTP code. */
  refuse(refused: BodyRefusal, startedMs: number): { code: number; text: string } | undefined;
}

/** Handles the requests on the port of an extension server. */
export function createApplication(foundation: Foundation, options: ApplicationOptions): Application {
  const { connections, log, maxBodyBytes, metrics: serverMetrics, monotonicNow } = foundation;
  const { handlers, prefix, metrics, replaceAnswer } = options;
  const respond = createRespond(foundation);
  const timeoutIn = timeoutReader();

  function parsed(bytes: Buffer): { value: Json } | { problem: string } {
    try {
      const value = parseFirstJson(bytes);
      return isJsonObject(value) ? { value } : { problem: 'the body is not a JSON object' };
    } catch (error) {
      if (error instanceof JsonError) {
        return { problem: bytes.length === 0 ? 'the body is empty' : error.message };
      }
      throw error;
    }
  }

  /** Sends answers of one handler (none: Discovery), counts them, and writes a line for each. */
  function finisher(hook: string, handler: string) {
    const names = { hook, ...(handler !== '' && { handler }) };
    const count = metrics.of(hook, handler);
    // The names are serialized once. The parent's level applies, as for all others.
    const callLog = log.child(names, { level: 'trace' });
    function counted(result: HandledCall, startedMs: number): number {
      const durationMs = monotonicNow() - startedMs;
      count(result, durationMs / 1000);
      return Math.round(durationMs * 1000) / 1000;
    }
    function finish(
      { result, code = 200, text, retryAfterSeconds, cluster }: Answered,
      response: TrackedResponse,
      startedMs: number,
    ) {
      respond(response, code, text);
      const durationMs = counted(result, startedMs);
      if (log.isLevelEnabled('info')) {
        // Fields that are undefined are left out by the log.
        const seconds = result === 'blocking' ? retryAfterSeconds : undefined;
        callLog.info({ cluster, result, durationMs, retryAfterSeconds: seconds }, 'call answered');
      }
    }
    function refuse(refused: BodyRefusal, startedMs: number, envelope: object) {
      const failure = unread(refused);
      if (failure === undefined) {
        return undefined;
      }
      counted('invalid request', startedMs);
      log.warn({ ...names, problem: refused.message }, 'request refused');
      return { code: 200, text: JSON.stringify({ ...envelope, ...failure }) };
    }
    return { names, counted, finish, refuse };
  }

  function discoveryRoute(): Route {
    const { finish, refuse } = finisher(hooks.Discovery.name, '');
    const discovery = JSON.stringify(discoveryOf(handlers));
    return {
      answer(bytes, response, startedMs) {
        const body = parsed(bytes);
        const answered: Answered =
          'problem' in body
            ? { result: 'invalid request', text: JSON.stringify(unreadable(body.problem)) }
            : { result: 'success', text: discovery };
        finish(answered, response, startedMs);
      },
      refuse: (refused, startedMs) => refuse(refused, startedMs, {}),
    };
  }

  function handlerRoute(handler: Handler): Route {
    const { name, hook, timeoutSeconds } = handler;
    const envelope = envelopeOf(handler);
    const { names, counted, finish, refuse } = finisher(hook.name, name);

    /** Sends the result of a call, or after `timeoutMs` a 504. */
    function conclude(
      outcome: CallOutcome | 'late' | 'gone',
      response: TrackedResponse,
      startedMs: number,
      timeoutMs: number,
    ) {
      if (outcome === 'gone') {
        counted('error', startedMs);
        log.warn(names, 'the caller has gone before its answer');
      } else if (outcome === 'late') {
        // As when a call times out: failurePolicy applies, which it does not to a Failure.
        const message = `handler ${name} did not answer within ${timeoutMs / 1000} s`;
        log.error({ ...names, timeoutMs }, 'the handler did not answer in time');
        const text = JSON.stringify({ ...envelope, status: 'Failure', message });
        finish({ result: 'error', code: 504, text }, response, startedMs);
      } else {
        const { response: answered, result, cluster } = outcome;
        const replaced = replaceAnswer?.(name);
        const text = replaced?.body ?? JSON.stringify({ ...envelope, ...answered });
        const { retryAfterSeconds } = answered;
        finish({ result, code: replaced?.code, text, retryAfterSeconds, cluster }, response, startedMs);
      }
    }

    return {
      answer(bytes, response, startedMs, query) {
        // However long the handler takes, its call does not count as one of a stalled client.
        connections.holdDecision(response);
        const body = parsed(bytes);
        if ('problem' in body) {
          const text = JSON.stringify({ ...envelope, ...unreadable(body.problem) });
          finish({ result: 'invalid request', text }, response, startedMs);
          return;
        }
        const timeoutMs = Math.min(timeoutIn(query) ?? (timeoutSeconds ?? defaultTimeoutSeconds) * 1000, maxTimeoutMs);
        const ending = new AbortController();
        let lateTimer: NodeJS.Timeout | undefined;
        const timer = setTimeout(() => {
          lateTimer = setTimeout(() => end('late'), graceMs);
          ending.abort(new DOMException(`the caller waits for ${timeoutMs / 1000} s only`, 'TimeoutError'));
        }, timeoutMs);
        let hasEnded = false;
        /** The first of them counts. Not Promise.race, which takes longer than most handlers. */
        function end(outcome: CallOutcome | 'late' | 'gone'): void {
          if (hasEnded) {
            return;
          }
          hasEnded = true;
          clearTimeout(timer);
          clearTimeout(lateTimer);
          conclude(outcome, response, startedMs, timeoutMs);
        }
        response.on('close', () => {
          if (!hasEnded) {
            end('gone');
            ending.abort(new DOMException('the caller has gone', 'AbortError'));
          }
        });
        void call(handler, body.value, { ending, log }).then(end);
      },
      refuse: (refused, startedMs) => refuse(refused, startedMs, envelope),
    };
  }

  const routes = new Map<string, Route>([[pathOf(hooks.Discovery), discoveryRoute()]]);
  for (const handler of handlers) {
    routes.set(pathOf(handler.hook, handler.name), handlerRoute(handler));
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
    const query = mark === -1 ? '' : url.slice(mark + 1);
    receiveBody(
      foundation,
      'any request',
      request,
      response,
      (bytes) => route.answer(bytes, response, startedMs, query),
      (refused) => route.refuse(refused, startedMs),
    );
  };
}
