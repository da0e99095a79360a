import type { JsonObject } from '../../../kubernetes/index.ts';
import { formatGroupHook, formatHook, type HookDefinition } from '../../catalog/definition.ts';
import { clusterApiHooks } from '../../catalog/definitions/definitions.ts';
import { objectOf } from '../../messages/index.ts';
import { type CallError, isCallError, prefixed } from '../call-error.ts';
import type {
  CallAllOptions,
  CallAllResult,
  CalledObject,
  CallOptions,
  CallResult,
  ClientOptions,
} from '../client-types.ts';
import type { RegisteredHandler } from '../registry/registration.ts';
import type { HandlerRegistry } from '../registry/registry.ts';
import { type CallContext, callHandler } from './call-handler.ts';
import { selectorFor } from './selection.ts';
import type { createWaits } from './waits.ts';

const groupHook = (hook: HookDefinition) => JSON.stringify(formatGroupHook(hook));

const known = new Set(clusterApiHooks.map(formatHook));

/** The object of a call: the one that it names, or that its request is about. */
const calledObject = (hook: HookDefinition, { object, request }: CallAllOptions<object>): CalledObject | CallError =>
  object ??
  objectOf(hook, request as JsonObject) ?? {
    step: 'request',
    message: 'the request names no object: pass the option object',
  };

/** Selects the handlers for a call from a registry, and calls them. */
export function createCalls(
  registry: HandlerRegistry,
  waits: ReturnType<typeof createWaits>,
  namespaceLabels: ClientOptions['namespaceLabels'],
  context: CallContext,
) {
  /** The handlers of a hook whose namespaceSelector matches an object, in the order of the calls. */
  async function handlersFor(
    hook: HookDefinition,
    object: CalledObject,
    signal?: AbortSignal,
  ): Promise<RegisteredHandler[] | CallError> {
    const prefix = `failed to get extension handlers for hook ${groupHook(hook)}`;
    const selects = selectorFor(object, namespaceLabels, signal);
    const selected: RegisteredHandler[] = [];
    for (const handler of registry.list(hook.group, hook.name)) {
      const isSelected = await selects(handler.extension);
      if (isCallError(isSelected)) {
        return prefixed(`${prefix}: failed to get extension handler ${JSON.stringify(handler.name)}`, isSelected);
      }
      if (isSelected) {
        selected.push(handler);
      }
    }
    return selected;
  }

  async function one<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    call: CallOptions<Request>,
  ): Promise<CallResult<Response>> {
    const named = call.handler === undefined ? `for hook ${groupHook(hook)}` : JSON.stringify(call.handler);
    const failed = (error: CallError): CallResult<Response> => ({
      ok: false,
      error: prefixed(`failed to call extension handler ${named}`, error),
    });
    const object = checkHook(hook) ?? calledObject(hook, call);
    if (isCallError(object)) {
      return failed(object);
    }
    const handler = await handlerOf(hook, object, call);
    if (isCallError(handler)) {
      return failed(handler);
    }
    const waitKey = call.cache ? waits.keyOf(hook, object, handler.name) : undefined;
    const wait = waits.running(hook, waitKey);
    if (wait !== undefined) {
      return { ok: true, response: wait as Response, from: 'wait' };
    }
    const result = await callHandler(hook, handler, call, context);
    if (!result.ok) {
      return failed(result.error);
    }
    waits.remember(waitKey, result.response);
    return result as CallResult<Response>;
  }

  /** Calls all handlers of a hook one after the other, up to the first that fails. */
  async function all<Request extends object, Response extends object>(
    hook: HookDefinition<Request, Response>,
    call: CallAllOptions<Request>,
  ): Promise<CallAllResult<Response>> {
    const prefix = `failed to call extension handlers for hook ${groupHook(hook)}`;
    const calls: { handler: string; result: CallResult<Response> }[] = [];
    const failed = (error: CallError): CallAllResult<Response> => ({
      ok: false,
      error: prefixed(prefix, error),
      calls,
    });
    const succeeded = (response: object): CallAllResult<Response> => ({
      ok: true,
      response: response as Response,
      calls,
    });
    const object = checkHook(hook) ?? calledObject(hook, call);
    if (isCallError(object)) {
      return failed(object);
    }
    const handlers = await handlersFor(hook, object, call.signal);
    if (isCallError(handlers)) {
      return failed(handlers);
    }
    const waitKey = call.cache ? waits.keyOf(hook, object) : undefined;
    // Without a handler nothing blocks, whatever is cached.
    const wait = handlers.length === 0 ? undefined : waits.running(hook, waitKey);
    if (wait !== undefined) {
      const { status, message = '', retryAfterSeconds = 0 } = wait;
      return succeeded({ status, message, retryAfterSeconds });
    }
    // The joint answer has all messages, and the shortest wait.
    const messages: string[] = [];
    let retryAfterSeconds = 0;
    for (const handler of handlers) {
      const result: CallResult<JsonObject> = await callHandler(hook, handler, call, context);
      calls.push({ handler: handler.name, result: result as CallResult<Response> });
      if (!result.ok) {
        return failed(prefixed(`failed to call extension handler ${JSON.stringify(handler.name)}`, result.error));
      }
      const { message, retryAfterSeconds: retry } = result.response;
      if (typeof message === 'string' && message !== '') {
        messages.push(message);
      }
      if (typeof retry === 'number' && retry !== 0) {
        retryAfterSeconds = retryAfterSeconds === 0 ? retry : Math.min(retryAfterSeconds, retry);
      }
    }
    const message = messages.join(', ');
    waits.remember(waitKey, { retryAfterSeconds, message });
    return succeeded({ status: 'Success', message, ...(hook.isBlocking ? { retryAfterSeconds } : {}) });
  }

  function checkHook(hook: HookDefinition): CallError | undefined {
    return known.has(formatHook(hook))
      ? undefined
      : { step: 'hook', message: `${formatHook(hook)} is not in the Runtime SDK catalog` };
  }

  /** The handler that a call names, if it serves the hook and its namespaceSelector matches the object; or the only one. */
  async function handlerOf(
    hook: HookDefinition,
    object: CalledObject,
    { handler: name, signal }: CallOptions<object>,
  ): Promise<RegisteredHandler | CallError> {
    if (name === undefined) {
      const handlers = await handlersFor(hook, object, signal);
      if (isCallError(handlers)) {
        return handlers;
      }
      const [only] = handlers;
      if (only !== undefined && handlers.length === 1) {
        return only;
      }
      const known =
        handlers.length === 0
          ? 'it has no handler'
          : `it has the handlers ${handlers.map((one) => one.name).join(', ')}`;
      return { step: 'registry', message: `${known}: name one with the option handler, or use callAllExtensions` };
    }
    const handler = registry.get(name);
    if (isCallError(handler)) {
      return handler;
    }
    if (handler.group !== hook.group || handler.hook !== hook.name) {
      const message = `handler does not match GroupHook ${groupHook(hook)}`;
      return { step: 'registry', message };
    }
    const isSelected = await selectorFor(object, namespaceLabels, signal)(handler.extension);
    if (isCallError(isSelected)) {
      return isSelected;
    }
    return isSelected
      ? handler
      : { step: 'selector', message: `namespaceSelector did not match object ${object.namespace}/${object.name}` };
  }

  return { handlersFor, one, all };
}
