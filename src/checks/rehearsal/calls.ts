import type { JsonObject } from '../../kubernetes/index.ts';
import {
  type CallError,
  type CallResult,
  type Client,
  isCallError,
  onlyHandlerFor,
} from '../../runtimehooks/client/index.ts';
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

const shortened = (response: JsonObject): JsonObject => ({ ...response, message: messageOf(response.message) });

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
  const failed = (error: string, calls: readonly HandlerCall[] = []) => ({ ok: false as const, error, calls });
  const outcomeOf = (
    result: { ok: true; response: JsonObject } | { ok: false; error: CallError },
    calls: readonly HandlerCall[],
  ) =>
    result.ok
      ? { ok: true as const, response: shortened(result.response), calls }
      : failed(errorText(result.error.message, release), calls);

  return async ({ hook: name, handler: named, object, request }, signal) => {
    const hook = hooks[name] as HookDefinition<object, object> as HookDefinition<JsonObject, JsonObject>;
    let handler = named;
    if (handler === undefined && exclusiveHooks.has(name)) {
      const only = await onlyHandlerFor(client, hook, object);
      if (isCallError(only)) {
        return failed(only.message);
      }
      handler = only;
      if (handler === undefined) {
        return name === 'UpdateMachine'
          ? failed('no extensions registered for UpdateMachine hook')
          : { ok: true, response: {}, calls: [] };
      }
    }
    if (handler !== undefined) {
      const result = await client.callExtension(hook, { handler, object, request, signal });
      return outcomeOf(result, [callOf(hook, handler, result, release)]);
    }
    const result = await client.callAllExtensions(hook, { object, request, signal });
    const calls = result.calls.map(({ handler: one, result: answer }) => callOf(hook, one, answer, release));
    return outcomeOf(result, calls);
  };
}
