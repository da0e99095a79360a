import type { JsonObject } from '../../kubernetes/index.ts';
import { type CallResult, type Client, isCallError } from '../../runtimehooks/client/index.ts';
import { type HookDefinition, hooks, inPlaceHooks, type Release } from '../../runtimehooks/index.ts';
import { type CallEffect, type EffectOutcome, type HandlerCall, handlerCall } from './cluster/effects.ts';
import { has, newestRelease } from './cluster/releases.ts';

/** Makes the calls that simulations request. */
export type Caller = (effect: CallEffect, signal: AbortSignal) => Promise<Extract<EffectOutcome, { ok: boolean }>>;

/** Longest message of an extension that is kept, in characters. */
const maxMessage = 4096;

/** A copy: the result of `slice` would keep the whole response, perhaps megabytes, in memory as long as the entry. */
const messageOf = (message: unknown): string =>
  typeof message === 'string' ? Buffer.from(message.slice(0, maxMessage)).toString() : '';

/** A response with a message short enough to be kept and repeated. */
const shortened = (response: JsonObject): JsonObject => ({ ...response, message: messageOf(response.message) });

/** Errors in the words of a release: before v1.14 they lacked the messages of extensions. */
function errorText(error: string, release: Release): string {
  return has(release, 'failureMessages')
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
export function createCaller(client: Client, release: Release = newestRelease): Caller {
  async function one(hook: HookDefinition, effect: CallEffect, handler: string, signal: AbortSignal) {
    const { object, request } = effect;
    const result = (await client.callExtension(hook, { handler, object, request, signal })) as CallResult<JsonObject>;
    const calls = [callOf(hook, handler, result, release)];
    return result.ok
      ? { ok: true as const, response: shortened(result.response), calls }
      : { ok: false as const, error: errorText(result.error.message, release), calls };
  }

  return async (effect, signal) => {
    const hook: HookDefinition = hooks[effect.hook];
    if (effect.handler !== undefined) {
      return one(hook, effect, effect.handler, signal);
    }
    if (inPlaceHooks.has(effect.hook)) {
      const failed = (error: string) => ({ ok: false as const, error, calls: [] });
      const handlers = await client.handlersFor(hook, effect.object);
      if (isCallError(handlers)) {
        return failed(handlers.message);
      }
      const [handler, ...more] = handlers;
      if (more.length > 0) {
        return failed(`found multiple ${effect.hook} hooks (${handlers.join(',')}): only one hook is supported`);
      }
      if (handler === undefined) {
        return effect.hook === 'UpdateMachine'
          ? failed('no extensions registered for UpdateMachine hook')
          : { ok: true, response: {}, calls: [] };
      }
      return one(hook, effect, handler, signal);
    }
    const { object, request } = effect;
    const result = await client.callAllExtensions<object, object>(hook as HookDefinition<object, object>, {
      object,
      request,
      signal,
    });
    const calls = result.calls.map(({ handler, result: answer }) =>
      callOf(hook, handler, answer as CallResult<JsonObject>, release),
    );
    return result.ok
      ? { ok: true, response: shortened(result.response as JsonObject), calls }
      : { ok: false, error: errorText(result.error.message, release), calls };
  };
}
