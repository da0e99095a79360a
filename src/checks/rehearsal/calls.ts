import type { JsonObject } from '../../kubernetes/index.ts';
import { type CallResult, type Client, isCallError, onlyHandlerFor } from '../../runtimehooks/client/index.ts';
import {
  compareReleases,
  exclusiveHooks,
  type HookDefinition,
  hooks,
  newestKnownRelease,
  type Release,
  v1,
} from '../../runtimehooks/index.ts';
import { type Call, type HandlerCall, handlerCall, type Outcome } from './events.ts';

export type Caller = (call: Call, signal: AbortSignal) => Promise<Outcome>;

/** Longest message of an extension that is kept, in characters. */
const maxMessage = 4096;

const messageOf = (message: unknown): string => (typeof message === 'string' ? message.slice(0, maxMessage) : '');

/** The first release whose errors and conditions have the messages of extensions that fail. */
const failureMessagesSince = v1(14);

/** Errors in the words of a release. */
function errorText(error: string, release: Release): string {
  return compareReleases(release, failureMessagesSince) >= 0
    ? error
    : error.replace(
        /(got failure response|got unknown response status "[^"]{0,1000}") with message: [\s\S]*$/,
        '$1, please check controller logs for errors',
      );
}

function callOf(hook: HookDefinition, handler: string, result: CallResult<JsonObject>, release: Release): HandlerCall {
  if (!result.ok) {
    const status = result.error.step === 'status' ? 'Failure' : 'Error';
    return handlerCall(handler, { status, error: errorText(result.error.message, release) });
  }
  if (result.swallowed !== undefined) {
    return handlerCall(handler, { status: 'Ignored', error: result.swallowed.message });
  }
  const { message, retryAfterSeconds } = result.response;
  return handlerCall(handler, {
    message: messageOf(message),
    // For hooks that cannot block, Cluster API does not read this field.
    retryAfterSeconds: hook.isBlocking && typeof retryAfterSeconds === 'number' ? retryAfterSeconds : 0,
  });
}

/** Creates a caller that calls extensions through a client, as Cluster API's controllers do. */
export function createCaller(client: Client, release: Release = newestKnownRelease): Caller {
  return async ({ hook: name, handler: named, object, request }, signal) => {
    const hook = hooks[name] as HookDefinition<object, object> as HookDefinition<JsonObject, JsonObject>;
    const isExclusive = named === undefined && exclusiveHooks.has(name);
    const handler = isExclusive ? await onlyHandlerFor(client, hook, object) : named;
    if (isCallError(handler)) {
      return { ok: false, error: handler.message, calls: [] };
    }
    if (isExclusive && handler === undefined) {
      return name === 'UpdateMachine'
        ? { ok: false, error: 'no extensions registered for UpdateMachine hook', calls: [] }
        : { ok: true, response: {}, calls: [] };
    }
    const call = { object, request, signal };
    const result =
      handler === undefined
        ? await client.callAllExtensions(hook, call)
        : await client.callExtension(hook, { handler, ...call });
    const made = 'calls' in result ? result.calls : [{ handler: handler ?? '', result }];
    const calls = made.map((one) => callOf(hook, one.handler, one.result, release));
    return result.ok
      ? { ok: true, response: { ...result.response, message: messageOf(result.response.message) }, calls }
      : { ok: false, error: errorText(result.error.message, release), calls };
  };
}
