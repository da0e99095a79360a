import type { Log } from '../../../base/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kubernetes/index.ts';
import { formatHook } from '../../../runtimehooks/index.ts';
import { decodeRequest, messageProblem, objectOf, problemText } from '../../../runtimehooks/messages/index.ts';
import { answersOf, responseIn } from '../handlers/answer.ts';
import { type Handler, type HandlerContext, HandlerFailure } from '../handlers/handler.ts';
import { fault } from '../log.ts';
import type { Lifetime } from './lifetime.ts';

/** How a call ended: two kinds of success, a failure that the handler intended, and three that it did not. */
export type HandledCall = 'success' | 'blocking' | 'failure' | 'invalid request' | 'error' | 'invalid answer';

export interface CallOutcome {
  /** The response, which always matches the schema of its hook. */
  response: JsonObject;
  /** The response as it is sent: JSON, with `apiVersion` and `kind`. */
  text: string;
  result: HandledCall;
  /** The Cluster that the request is about, as `NAMESPACE/NAME`; undefined if the request names none. */
  cluster?: string | undefined;
}

interface CallContext {
  /** Its signal is aborted when the caller no longer waits for the answer. */
  ending: { readonly signal: AbortSignal };
  log: Log;
  lifetime: Lifetime;
}

/** Longest names of a Cluster and its namespace, in characters (twice the maximum in Kubernetes), and these with a uid. */
const maxClusterLength = 2 * 253;
const maxSubjectLength = maxClusterLength + 100;

function contextOf(
  { hook, name }: Handler,
  request: JsonObject,
  { log, ending, lifetime }: CallContext,
): HandlerContext<unknown> {
  const object = objectOf(hook, request);
  const cluster = object && `${object.namespace}/${object.cluster}`.slice(0, maxClusterLength);
  const about = object && `${object.namespace}/${object.name} ${object.uid ?? ''}`.slice(0, maxSubjectLength);
  return {
    answer: answersOf(hook),
    cluster,
    subject: `${hook.name} ${name} ${about ?? ''}`,
    settings: (isJsonObject(request.settings) ? request.settings : {}) as Readonly<Record<string, string>>,
    stopping: lifetime.stopping,
    waitUntil: lifetime.waitUntil,
    signal: ending.signal,
    log: log.child({ hook: hook.name, handler: name, cluster }),
  };
}

/** Longest message of a response, in characters: Cluster API's conditions hold 10,240, some of which it adds itself. */
const maxMessageLength = 8192;

export const failed = ({ hook }: Handler, message: string): JsonObject => ({
  ...(hook.isBlocking && { retryAfterSeconds: 0 }),
  status: 'Failure',
  message: message.slice(0, maxMessageLength),
});

export const textOf = ({ hook }: Handler, response: JsonObject) =>
  JSON.stringify({ apiVersion: `${hook.group}/${hook.version}`, kind: hook.response.kind, ...response });

function failure(
  result: Exclude<HandledCall, 'success' | 'blocking'>,
  message: string,
  handler: Handler,
  cluster?: string,
): CallOutcome {
  const response = failed(handler, message);
  return { response, text: textOf(handler, response), result, cluster };
}

const seesLog = 'see the log of the extension';

/** Longest response, in bytes (20 MiB), as of a request; Cluster API reads a longer one, without a limit, into its memory. */
const maxAnswerBytes = 20 * 1024 * 1024;

function outcomeOfReturned(returned: unknown, handler: Handler, context: HandlerContext<unknown>): CallOutcome {
  const { cluster, log } = context;
  const invalid = (problem: string): CallOutcome => {
    log.error({ problem }, 'the answer of the handler does not match its hook');
    return failure('invalid answer', `handler ${handler.name} gave an invalid answer: ${seesLog}`, handler, cluster);
  };
  const response = responseIn(returned);
  if (response === undefined) {
    return invalid('the handler returned no answer: return the result of answer.done, answer.fail or answer.retry');
  }
  const { message } = response;
  const isLong = typeof message === 'string' && message.length > maxMessageLength;
  const sent = isLong ? { ...response, message: message.slice(0, maxMessageLength) } : response;
  if (isLong) {
    log.warn({ characters: message.length }, `the message of the answer is cut to ${maxMessageLength} characters`);
  }
  let text: string;
  try {
    text = textOf(handler, sent);
  } catch (error) {
    // A field that takes any JSON has a bigint, or an object that contains itself.
    return invalid(`JSON cannot represent it: ${fault(error).message}`);
  }
  // Before the checks: they take longer, and find as many problems as a large answer has parts.
  if (Buffer.byteLength(text) > maxAnswerBytes) {
    const problem = 'an answer of more than 20 MiB';
    log.error({ problem }, 'the answer of the handler is too large: answer with fewer items, or smaller ones');
    const remedy = 'which is not sent: it has to answer with less';
    return failure('invalid answer', `handler ${handler.name} gave ${problem}, ${remedy}`, handler, cluster);
  }
  const problem = messageProblem(handler.hook, 'response', response);
  if (problem !== undefined) {
    return invalid(problemText(problem));
  }
  const { status, retryAfterSeconds } = sent;
  const result = status === 'Failure' ? 'failure' : (retryAfterSeconds ?? 0) === 0 ? 'success' : 'blocking';
  return { response: sent, text, result, cluster };
}

/** Runs a handler. Never throws: a problem becomes a Failure with a message that its cause decides, and a log line. */
export async function call(handler: Handler, body: Json, callContext: CallContext): Promise<CallOutcome> {
  const { hook, name } = handler;
  const { log } = callContext;
  const decoded = decodeRequest(hook, body);
  if ('problem' in decoded) {
    log.warn({ hook: hook.name, handler: name, problem: decoded.problem }, 'request refused');
    const message = `the request is not one of ${formatHook(hook)}: ${decoded.problem}`;
    return failure('invalid request', message, handler);
  }
  const { request } = decoded;
  const context = contextOf(handler, request, callContext);
  try {
    return outcomeOfReturned(await handler.handle(request, context), handler, context);
  } catch (error) {
    if (error instanceof HandlerFailure) {
      context.log.warn(fault(error), 'the handler failed with a message for users');
      return failure('failure', String(error.message), handler, context.cluster);
    }
    context.log.error(fault(error), 'the handler failed');
    return failure('error', `handler ${handler.name} failed: ${seesLog}`, handler, context.cluster);
  }
}

/** How long a handler may still answer after the caller's timeout, at which its signal is aborted, in milliseconds. */
const graceMs = 500;

/** An outcome, too late for the caller, or the caller disconnected. */
type TimedOutcome = CallOutcome | 'late' | 'gone';

/** The first outcome of a call, whose signal is aborted when the timeout expires or the caller disconnects (`gone`). */
export async function callInTime(
  handler: Handler,
  body: Json,
  gone: AbortSignal,
  timeoutMs: number,
  { log, lifetime }: { log: Log; lifetime: Lifetime },
): Promise<TimedOutcome> {
  const ending = new AbortController();
  const startedMs = performance.now();
  const outcome = call(handler, body, { ending, log, lifetime });
  // The time until the handler returned its promise counts; one that computed for longer is too late.
  const elapsedMs = performance.now() - startedMs;
  const isOver = elapsedMs > timeoutMs;
  const { promise, resolve } = Promise.withResolvers<TimedOutcome>();
  let lateTimer: NodeJS.Timeout | undefined;
  const timer = setTimeout(
    () => {
      lateTimer = setTimeout(() => resolve('late'), graceMs);
      ending.abort(new DOMException(`the caller waits only ${timeoutMs / 1000} s`, 'TimeoutError'));
    },
    isOver ? 0 : timeoutMs - elapsedMs,
  );
  const disconnected = () => {
    resolve('gone');
    ending.abort(new DOMException('the caller disconnected', 'AbortError'));
  };
  if (gone.aborted) {
    disconnected();
  }
  gone.addEventListener('abort', disconnected);
  void outcome.then(isOver ? () => resolve('late') : resolve);
  const first = await promise;
  clearTimeout(timer);
  clearTimeout(lateTimer);
  if (!isOver && (first === 'late' || first === 'gone')) {
    void outcome.then(() => {
      const durationMs = Math.round(performance.now() - startedMs);
      log.warn({ hook: handler.hook.name, handler: handler.name, durationMs }, 'the handler ended, too late');
    });
  }
  return first;
}
