import type { Cache } from '../../../base/index.ts';
import { ConversionError, type JsonObject } from '../../../kubernetes/index.ts';
import { formatGroupHook, formatHook, type HookDefinition } from '../../catalog/definition.ts';
import { formatProblems, messageProblems } from '../../messages/index.ts';
import type { HookVersions } from '../../versions/index.ts';
import { type CallError, isCallError, isIgnorable } from '../call-error.ts';
import type { CallAllOptions, CallResult } from '../client-types.ts';
import { complete, type ExchangeContext, exchange, type Message, statusError } from '../exchange/exchange.ts';
import type { RegisteredHandler } from '../registry/registration.ts';
import { responseCachingOf } from './response-caching.ts';
import { emptyResponse } from './waits.ts';

export interface Definitions {
  /** By group, version and name. */
  hooks: ReadonlyMap<string, HookDefinition>;
  /** The conversions between the versions of a hook, by group and name. */
  versions: ReadonlyMap<string, HookVersions>;
}

export interface CallContext extends ExchangeContext {
  definitions: Definitions;
  responses: Cache<JsonObject>;
  mimicsClusterApi: boolean;
}

function converted(
  versionsOf: Definitions['versions'],
  hook: HookDefinition,
  convert: (known: HookVersions) => JsonObject,
  what: string,
): Message | CallError {
  const known = versionsOf.get(formatGroupHook(hook));
  try {
    return known === undefined
      ? { step: 'convert', message: `failed to convert ${what}: no conversion is known for ${formatGroupHook(hook)}` }
      : { content: convert(known) };
  } catch (error) {
    if (error instanceof ConversionError) {
      return { step: 'convert', message: `failed to convert ${what}: ${error.path.join('.')} ${error.message}` };
    }
    throw error;
  }
}

/** A response converted to the caller's version. */
function readResponse(
  hook: HookDefinition,
  theirs: HookDefinition,
  answer: Message,
  versionsOf: Definitions['versions'],
): CallResult<JsonObject> {
  // apiVersion and kind of a response are not checked, and may be absent.
  const apiVersion = `${theirs.group}/${theirs.version}`;
  const typed = { ...answer.content, apiVersion, kind: theirs.response.kind };
  const read =
    theirs.version === hook.version
      ? { content: typed }
      : converted(versionsOf, hook, (known) => known.responseFor(hook.version, typed), 'response');
  if (isCallError(read)) {
    return { ok: false, error: read };
  }
  const error = statusError(read.content);
  if (error !== undefined) {
    return { ok: false, error };
  }
  const response: JsonObject = hook.isBlocking ? { retryAfterSeconds: 0, ...read.content } : read.content;
  return { ok: true, response, from: 'extension' };
}

/** Sends a request to a handler, in the version that it serves. */
async function ask(
  hook: HookDefinition,
  handler: RegisteredHandler,
  body: JsonObject,
  signal: AbortSignal | undefined,
  { definitions, mimicsClusterApi, ...context }: CallContext,
): Promise<CallResult<JsonObject>> {
  const failed = (error: CallError): CallResult<JsonObject> => ({ ok: false, error });
  const { group, version, hook: name } = handler;
  const theirs = definitions.hooks.get(formatHook({ group, version, name }));
  if (theirs === undefined) {
    const message = `failed to convert request: ${formatHook({ ...hook, version })} is not in the Runtime SDK catalog`;
    return failed({ step: 'convert', message });
  }
  const outgoing =
    version === hook.version
      ? { content: body }
      : converted(definitions.versions, hook, (known) => known.requestFor(version, body), 'request');
  if (isCallError(outgoing)) {
    return failed(outgoing);
  }
  const answer = await exchange(
    {
      extension: handler.extension,
      hook: theirs,
      callerVersion: hook.version,
      handler: handler.name.slice(0, handler.name.lastIndexOf('.')),
      timeoutSeconds: handler.timeoutSeconds,
      request: outgoing.content,
      signal,
      mimicsClusterApi,
    },
    context,
  );
  if (!isCallError(answer)) {
    return readResponse(hook, theirs, answer, definitions.versions);
  }
  return handler.failurePolicy === 'Ignore' && isIgnorable(answer)
    ? { ok: true, response: emptyResponse(hook), swallowed: answer, from: 'ignore' }
    : failed(answer);
}

/** Calls a handler, or returns a cached response. */
export async function callHandler(
  hook: HookDefinition,
  handler: RegisteredHandler,
  { request, signal, cache = false }: CallAllOptions<object>,
  context: CallContext,
): Promise<CallResult<JsonObject>> {
  const body = complete(hook, request, handler.extension.settings);
  const problems = messageProblems(hook, 'request', body, 'strict');
  if (problems.length > 0) {
    const message = `the request is not valid: ${formatProblems(problems)}`;
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
