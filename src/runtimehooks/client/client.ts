import type { Registry } from 'prom-client';
import type { JsonObject } from '../../kubernetes/index.ts';
import { newestKnownRelease } from '../catalog/catalog.ts';
import { formatGroupHook, formatHook, type HookDefinition } from '../catalog/definition.ts';
import { clusterApiHooks } from '../catalog/definitions.ts';
import { messageProblem, objectOf, problemText } from '../messages/index.ts';
import { createCallCache } from './call-cache.ts';
import { type CallError, isCallError, isIgnorable, prefixed } from './call-error.ts';
import type {
  CallAllOptions,
  CallAllResult,
  CalledObject,
  CallOptions,
  CallResult,
  Client,
  ClientOptions,
} from './client-types.ts';
import { discover } from './discovery.ts';
import { ExtensionConnections } from './exchange/connections.ts';
import { complete, createBackoff, exchange, statusError } from './exchange/exchange.ts';
import { createCallMetrics } from './exchange/metrics.ts';
import { HandlerRegistry, type RegisteredHandler, selectorFor } from './registry.ts';

/** Creates a client. @throws {TypeError} for an ExtensionConfig that cannot be registered. */
export function createClient(options: ClientOptions = {}): Client {
  return clientWith(options, false);
}

/** A client that calls as Cluster API's own does: without a Content-Type, and even if the extension is in backoff. */
export const createClusterApiClient = (options: ClientOptions = {}): Client => clientWith(options, true);

const groupHook = (hook: HookDefinition) => JSON.stringify(formatGroupHook(hook));

const known = new Set(clusterApiHooks.map(formatHook));

function calledObject(hook: HookDefinition, { object, request }: CallAllOptions<object>): CalledObject | CallError {
  return known.has(formatHook(hook))
    ? (object ??
        objectOf(hook, request as JsonObject) ?? {
          step: 'request',
          message: 'the request names no object: pass the option object',
        })
    : { step: 'hook', message: `${formatHook(hook)} is not in the Runtime SDK catalog` };
}

function clientWith(options: ClientOptions, mimicsClusterApi: boolean): Client {
  const { now = () => performance.now(), release = newestKnownRelease, namespaceLabels } = options;
  const registry = new HandlerRegistry();
  for (const config of options.extensions ?? []) {
    const error = registry.add(config);
    if (error !== undefined) {
      throw new TypeError(`extensions: ${error.message}`);
    }
  }
  const connections = new ExtensionConnections(options);
  const backoff = createBackoff(now);
  const metrics = options.metrics && createCallMetrics(options.metrics as Registry);
  const cached = createCallCache(now);
  const context = { connections, backoff, metrics, now };

  async function handlersFor(
    hook: HookDefinition,
    object: CalledObject,
    signal?: AbortSignal,
  ): Promise<RegisteredHandler[] | CallError> {
    const prefix = `failed to get extension handlers for hook ${groupHook(hook)}`;
    const selects = selectorFor(object.namespace, namespaceLabels, signal);
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

  /** The handler with a name, if it serves the hook and is called for the object; without a name, the only one. */
  async function oneHandler(
    hook: HookDefinition,
    object: CalledObject,
    { handler: name, signal }: CallOptions<object>,
  ): Promise<RegisteredHandler | CallError> {
    if (name === undefined) {
      const handlers = await handlersFor(hook, object, signal);
      if (isCallError(handlers)) {
        return handlers;
      }
      const [only, ...others] = handlers;
      if (only !== undefined && others.length === 0) {
        return only;
      }
      const names = handlers.map((handler) => handler.name).join(', ');
      const known = names === '' ? 'it has no handler' : `it has the handlers ${names}`;
      return { step: 'registry', message: `${known}: name one with the option handler, or use callAllExtensions` };
    }
    const handler = registry.get(name);
    if (isCallError(handler)) {
      return handler;
    }
    if (handler.group !== hook.group || handler.hook !== hook.name) {
      return { step: 'registry', message: `handler does not match GroupHook ${groupHook(hook)}` };
    }
    const isSelected = await selectorFor(object.namespace, namespaceLabels, signal)(handler.extension);
    if (isSelected === true) {
      return handler;
    }
    const message = `namespaceSelector did not match object ${object.namespace}/${object.name}`;
    return isSelected || { step: 'selector', message };
  }

  async function callHandler(
    hook: HookDefinition,
    handler: RegisteredHandler,
    { request, signal, cache }: CallAllOptions<object>,
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
    const called = { extension, hook, name: name.slice(0, name.lastIndexOf('.')), timeoutSeconds };
    const answer = await exchange({ ...called, request: body, signal, mimicsClusterApi }, context);
    // apiVersion and kind of a response are not checked, and may be absent.
    const type = { apiVersion: `${hook.group}/${hook.version}`, kind: hook.response.kind };
    const wait = hook.isBlocking ? { retryAfterSeconds: 0 } : {};
    if (isCallError(answer)) {
      const response = { ...type, status: 'Success', message: '', ...wait };
      return failurePolicy === 'Ignore' && isIgnorable(answer)
        ? { ok: true, response, swallowed: answer, from: 'ignore' }
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

  return {
    registry,
    discover: (config, { signal } = {}) => discover(config, { release, signal }, context),
    async callExtension<Request extends object, Response extends object>(
      hook: HookDefinition<Request, Response>,
      call: CallOptions<Request>,
    ): Promise<CallResult<Response>> {
      const { handler: name } = call;
      const named = name === undefined ? `for hook ${groupHook(hook)}` : JSON.stringify(name);
      const failed = (error: CallError): CallResult<Response> => ({
        ok: false,
        error: prefixed(`failed to call extension handler ${named}`, error),
      });
      const object = calledObject(hook, call);
      if (isCallError(object)) {
        return failed(object);
      }
      const handler = await oneHandler(hook, object, call);
      if (isCallError(handler)) {
        return failed(handler);
      }
      const waitKey = call.cache ? cached.waitKey(hook, object, handler.name) : undefined;
      const wait = cached.get(waitKey);
      if (wait !== undefined) {
        return { ok: true, response: wait as Response, from: 'wait' };
      }
      const result = await callHandler(hook, handler, call);
      if (!result.ok) {
        return failed(result.error);
      }
      cached.set(waitKey, hook, result.response);
      return result as CallResult<Response>;
    },
    async callAllExtensions<Request extends object, Response extends object>(
      hook: HookDefinition<Request, Response>,
      call: CallAllOptions<Request>,
    ): Promise<CallAllResult<Response>> {
      const calls: { handler: string; result: CallResult<Response> }[] = [];
      const failed = (error: CallError): CallAllResult<Response> => ({
        ok: false,
        error: prefixed(`failed to call extension handlers for hook ${groupHook(hook)}`, error),
        calls,
      });
      const object = calledObject(hook, call);
      if (isCallError(object)) {
        return failed(object);
      }
      const handlers = await handlersFor(hook, object, call.signal);
      if (isCallError(handlers)) {
        return failed(handlers);
      }
      const waitKey = call.cache ? cached.waitKey(hook, object) : undefined;
      // Without a handler nothing blocks, whatever is cached.
      const wait = handlers.length === 0 ? undefined : cached.get(waitKey);
      if (wait !== undefined) {
        return { ok: true, response: wait as unknown as Response, calls };
      }
      const messages: string[] = [];
      let retryAfterSeconds = 0;
      for (const handler of handlers) {
        const result = await callHandler(hook, handler, call);
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
      const joint = { status: 'Success', message: messages.join(', '), ...(hook.isBlocking && { retryAfterSeconds }) };
      cached.set(waitKey, hook, joint);
      return { ok: true, response: joint as unknown as Response, calls };
    },
    async handlersFor(hook, object) {
      const handlers = await handlersFor(hook, object);
      return isCallError(handlers) ? handlers : handlers.map(({ name }) => name);
    },
    disconnect: (name) => connections.forget(name),
    remove(name) {
      registry.remove(name);
      connections.forget(name);
      backoff.forget(name);
    },
    close: () => connections.close(),
  };
}

/** The handler of a hook for updates in place, if any. With several, Cluster API calls none, and the rollout fails (inplace_canupdatemachine.go, v1.14). */
export async function onlyHandlerFor(
  client: Client,
  hook: HookDefinition,
  object: CalledObject,
): Promise<string | undefined | CallError> {
  const handlers = await client.handlersFor(hook, object);
  if (isCallError(handlers) || handlers.length < 2) {
    return isCallError(handlers) ? handlers : handlers[0];
  }
  const message = `found multiple ${hook.name} hooks (${handlers.join(',')}): only one hook is supported`;
  return { step: 'hook', message };
}
