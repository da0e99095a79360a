import type { Logger } from 'pino';
import { formatHook } from '../hooks/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { decodeRequest, formatProblems, messageProblems } from '../messages/index.ts';
import { answersOf, responseIn } from './answer.ts';
import { clusterOf } from './cluster.ts';
import { type Handler, type HandlerContext, HandlerFailure } from './handler.ts';

/** How a call ended: two kinds of success, a failure that the handler intended, and three that it did not. */
export type HandledCall = 'success' | 'blocking' | 'failure' | 'invalid request' | 'error' | 'invalid answer';

/** The result of a call. */
export interface CallOutcome {
  /** The response, which always matches the schema of its hook. */
  response: JsonObject;
  result: HandledCall;
  /** The Cluster that the request is about, as `NAMESPACE/NAME`; undefined if the request names none. */
  cluster?: string | undefined;
}

/** The dependencies of a call. */
export interface CallContext {
  /**
   * Aborted when the caller no longer waits for the answer. Often an AbortController, which creates its signal on
   * demand.
   */
  ending: { readonly signal: AbortSignal };
  log: Logger;
}

/**
 * The context that a handler receives. Log and signal are created when they are first read: many handlers need neither,
 * and creating them takes longer than everything else here.
 */
class Context implements HandlerContext<unknown> {
  readonly answer;
  readonly cluster;
  readonly settings;
  readonly #handler: Handler;
  readonly #call: CallContext;
  #log: Logger | undefined;

  constructor(handler: Handler, request: JsonObject, call: CallContext) {
    this.answer = answersOf(handler.hook);
    this.cluster = clusterOf(request);
    this.settings = (isJsonObject(request.settings) ? request.settings : {}) as Readonly<Record<string, string>>;
    this.#handler = handler;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.ending.signal;
  }

  get log(): Logger {
    const { cluster } = this;
    const { hook, name } = this.#handler;
    this.#log ??= this.#call.log.child({ hook: hook.name, handler: name, ...(cluster !== undefined && { cluster }) });
    return this.#log;
  }
}

/** Longest message of a response, in characters: Cluster API's conditions hold 10,240, some of which it adds itself. */
const maxMessageLength = 8192;

const failed = ({ hook }: Handler, message: string): JsonObject => ({
  ...(hook.isBlocking && { retryAfterSeconds: 0 }),
  status: 'Failure',
  message: message.slice(0, maxMessageLength),
});

function fault(error: unknown): { error: string; message: string; stack?: string | undefined } {
  return error instanceof Error
    ? { error: error.name, message: error.message, stack: error.stack }
    : { error: typeof error, message: String(error) };
}

const seesLog = 'see the log of the extension';

/** What is wrong with an answer that matches the schema: what Cluster API would misunderstand. */
function answerProblem(response: JsonObject): string | undefined {
  const { status, retryAfterSeconds } = response;
  return status === 'Success' && typeof retryAfterSeconds === 'number' && retryAfterSeconds < 0
    ? `retryAfterSeconds must be 0 or more, not ${retryAfterSeconds}: Cluster API treats a negative number as blocking`
    : undefined;
}

/**
 * Runs a handler on a request as received. Never throws: every problem becomes a Failure, whose message is stable for
 * the same cause, and a log line with the details.
 */
export async function call(handler: Handler, body: Json, { ending, log }: CallContext): Promise<CallOutcome> {
  const { hook, name } = handler;
  const decoded = decodeRequest(hook, body);
  if ('problem' in decoded) {
    log.warn({ hook: hook.name, handler: name, problem: decoded.problem }, 'request refused');
    const message = `the request is not one of ${formatHook(hook)}: ${decoded.problem}`;
    return { response: failed(handler, message), result: 'invalid request' };
  }
  const { request } = decoded;
  const context = new Context(handler, request, { ending, log });
  const { cluster } = context;
  let returned: unknown;
  try {
    returned = await handler.handle(request, context);
  } catch (error) {
    if (error instanceof HandlerFailure) {
      return { response: failed(handler, error.message), result: 'failure', cluster };
    }
    context.log.error(fault(error), 'the handler failed');
    return { response: failed(handler, `handler ${name} failed: ${seesLog}`), result: 'error', cluster };
  }
  const response = responseIn(returned);
  const problem =
    response === undefined
      ? 'the handler returned no answer: return the result of answer.done, answer.failure or answer.retryAfterSeconds'
      : formatProblems(messageProblems(hook, 'response', response, 'strict')) || answerProblem(response);
  if (response === undefined || problem !== undefined) {
    context.log.error({ problem }, 'the answer of the handler does not match its hook');
    return {
      response: failed(handler, `handler ${name} gave an invalid answer: ${seesLog}`),
      result: 'invalid answer',
      cluster,
    };
  }
  const { message } = response;
  const sent =
    typeof message === 'string' && message.length > maxMessageLength
      ? { ...response, message: message.slice(0, maxMessageLength) }
      : response;
  const result =
    response.status === 'Failure' ? 'failure' : (response.retryAfterSeconds ?? 0) === 0 ? 'success' : 'blocking';
  return { response: sent, result, cluster };
}
