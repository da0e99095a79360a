import type { JsonObject } from '../../kubernetes/index.ts';
import { formatHook, type HookDefinition } from '../catalog/definition.ts';
import { messageProblem, problemText } from '../messages/index.ts';
import type { createCallCache } from './call-cache.ts';
import { type CallError, isCallError, isIgnorable } from './call-error.ts';
import type { CallAllOptions, CallResult } from './client-types.ts';
import { complete, type ExchangeContext, exchange, statusError } from './exchange/exchange.ts';
import type { RegisteredHandler } from './registry.ts';

export interface CallContext extends ExchangeContext {
  cached: ReturnType<typeof createCallCache>;
  mimicsClusterApi: boolean;
}

/** Sends a request to a handler, and reads its response; or returns a cached one. */
export async function callHandler(
  hook: HookDefinition,
  handler: RegisteredHandler,
  { request, signal, cache }: CallAllOptions<object>,
  { mimicsClusterApi, cached, ...context }: CallContext,
): Promise<CallResult<JsonObject>> {
  const failed = (error: CallError): CallResult<JsonObject> => ({ ok: false, error });
  const { name, version, extension, timeoutSeconds, failurePolicy } = handler;
  const body = complete(hook, request, extension.settings);
  const problem = messageProblem(hook, 'request', body);
  if (problem !== undefined) {
    return failed({ step: 'request', message: `the request is not valid: ${problemText(problem)}` });
  }
  const key = cache ? cached.responseKey(hook, handler, body) : undefined;
  const remembered = cached.get(key);
  if (remembered !== undefined) {
    return { ok: true, response: remembered, from: 'cache' };
  }
  if (version !== hook.version) {
    const message = `failed to convert request: ${formatHook({ ...hook, version })} is not in the Runtime SDK catalog`;
    return failed({ step: 'convert', message });
  }
  const answer = await exchange(
    {
      extension,
      hook,
      handler: name.slice(0, name.lastIndexOf('.')),
      timeoutSeconds,
      request: body,
      signal,
      mimicsClusterApi,
    },
    context,
  );
  // apiVersion and kind of a response are not checked, and may be absent.
  const type = { apiVersion: `${hook.group}/${hook.version}`, kind: hook.response.kind };
  const wait = hook.isBlocking ? { retryAfterSeconds: 0 } : {};
  if (isCallError(answer)) {
    return failurePolicy === 'Ignore' && isIgnorable(answer)
      ? { ok: true, response: { ...type, status: 'Success', message: '', ...wait }, swallowed: answer, from: 'ignore' }
      : failed(answer);
  }
  const response = { ...wait, ...answer.content, ...type };
  const error = statusError(response);
  if (error !== undefined) {
    return failed(error);
  }
  cached.set(key, hook, response);
  return { ok: true, response, from: 'extension' };
}
