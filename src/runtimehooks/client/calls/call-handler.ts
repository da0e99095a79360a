import type { Cache } from '../../../base/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';
import { formatHook, type HookDefinition } from '../../catalog/definition.ts';
import { messageProblem, problemText } from '../../messages/index.ts';
import { type CallError, isCallError, isIgnorable } from '../call-error.ts';
import type { CallAllOptions, CallResult } from '../client-types.ts';
import { complete, type ExchangeContext, exchange, statusError } from '../exchange/exchange.ts';
import type { RegisteredHandler } from '../registry/registration.ts';
import { responseCachingOf } from './response-caching.ts';
import { emptyResponse } from './waits.ts';

export interface CallContext extends ExchangeContext {
  responses: Cache<JsonObject>;
  mimicsClusterApi: boolean;
}

/** Sends a request to a handler, and reads its response. */
async function ask(
  hook: HookDefinition,
  handler: RegisteredHandler,
  body: JsonObject,
  signal: AbortSignal | undefined,
  { mimicsClusterApi, ...context }: CallContext,
): Promise<CallResult<JsonObject>> {
  const failed = (error: CallError): CallResult<JsonObject> => ({ ok: false, error });
  const { version } = handler;
  if (version !== hook.version) {
    const message = `failed to convert request: ${formatHook({ ...hook, version })} is not in the Runtime SDK catalog`;
    return failed({ step: 'convert', message });
  }
  const answer = await exchange(
    {
      extension: handler.extension,
      hook,
      handler: handler.name.slice(0, handler.name.lastIndexOf('.')),
      timeoutSeconds: handler.timeoutSeconds,
      request: body,
      signal,
      mimicsClusterApi,
    },
    context,
  );
  if (isCallError(answer)) {
    return handler.failurePolicy === 'Ignore' && isIgnorable(answer)
      ? { ok: true, response: emptyResponse(hook), swallowed: answer, from: 'ignore' }
      : failed(answer);
  }
  // apiVersion and kind of a response are not checked, and may be absent.
  const apiVersion = `${hook.group}/${hook.version}`;
  const response = { ...answer.content, apiVersion, kind: hook.response.kind };
  const error = statusError(response);
  return error === undefined
    ? { ok: true, response: hook.isBlocking ? { retryAfterSeconds: 0, ...response } : response, from: 'extension' }
    : failed(error);
}

/** Calls a handler, or returns a cached response. */
export async function callHandler(
  hook: HookDefinition,
  handler: RegisteredHandler,
  { request, signal, cache = false }: CallAllOptions<object>,
  context: CallContext,
): Promise<CallResult<JsonObject>> {
  const body = complete(hook, request, handler.extension.settings);
  const problem = messageProblem(hook, 'request', body);
  if (problem !== undefined) {
    const message = `the request is not valid: ${problemText(problem)}`;
    return { ok: false, error: { step: 'request', message } };
  }
  const caching = cache ? responseCachingOf(hook) : undefined;
  const identity = caching?.keyOf(handler.name, handler.extension, body);
  if (caching === undefined || identity === undefined) {
    return ask(hook, handler, body, signal, context);
  }
  const key = JSON.stringify([formatHook(hook), identity]);
  const remembered = context.responses.get(key);
  if (remembered !== undefined) {
    return { ok: true, response: structuredClone(remembered), from: 'cache' };
  }
  const result = await ask(hook, handler, body, signal, context);
  if (result.ok && result.from === 'extension') {
    context.responses.set(key, structuredClone(result.response), caching.lifeMs);
  }
  return result;
}
