import { ConversionError } from '../conversion/index.ts';
import {
  clusterApiHooks,
  createHookCatalog,
  formatGroupHook,
  formatHook,
  type HookDefinition,
  hooks,
  newestKnownRelease,
} from '../hooks/index.ts';
import { type Json, type JsonObject, selectsLabels } from '../kubernetes/index.ts';
import { formatProblems, type HookVersions, messageProblems } from '../messages/index.ts';
import { createBackoff } from './backoff.ts';
import { createCache, responseCachingOf } from './caches.ts';
import { type CallError, isIgnorable } from './call-error.ts';
import type {
  CallAllOptions,
  CallAllResult,
  CalledObject,
  CallOptions,
  CallResult,
  Client,
  ClientOptions,
} from './client-types.ts';
import { createConnections } from './connections.ts';
import { aggregate, type DiscoveredHandler, type DiscoveryProblem, readDiscovery } from './discovery.ts';
import { type ExchangeContext, exchange, type Message, statusError } from './exchange.ts';
import { createCallMetrics } from './metrics.ts';
import { type Extension, extensionOf, type RegisteredHandler } from './registration.ts';
import { createRegistry, isCallError } from './registry.ts';
import { createWaits, emptyResponse } from './waits.ts';

const defaultConcurrentCalls = 10;
const discoveryTimeoutSeconds = 10;
/** Longest answer to discovery, in bytes: 512 handlers are some 128 KiB. Many extensions are asked at a time. */
const maxDiscoveryBytes = 2 * 1024 * 1024;

const prefixed = (prefix: string, error: CallError): CallError => ({
  ...error,
  message: `${prefix}: ${error.message}`,
});

/** A client with an empty registry. */
export function createClient(options: ClientOptions = {}): Client {
  const { now = () => performance.now(), versions = [], release = newestKnownRelease } = options;
  const catalog = options.catalog ?? createHookCatalog();
  const registry = createRegistry();
  const connections = createConnections({
    maxConcurrentCalls: options.maxConcurrentCalls ?? defaultConcurrentCalls,
    ...(options.clientCertificate && { clientCertificate: options.clientCertificate }),
    ...(options.resolve && { resolve: options.resolve }),
  });
  const backoff = createBackoff(now);
  const metrics =
    options.metrics &&
    createCallMetrics(options.metrics, () =>
      registry.extensions.map((extension) => ({
        extension: extension.name,
        backoffSeconds: backoff.waitMs(extension) / 1000,
        ...connections.load(extension.name),
      })),
    );
  const context: ExchangeContext = {
    connections,
    backoff,
    metrics,
    now,
    withoutContentType: options.mimicsClusterApi === true,
  };
  const definitions = new Map((options.hooks ?? clusterApiHooks).map((hook) => [formatHook(hook), hook]));
  const versionsOf = new Map(versions.map((hook) => [formatGroupHook(hook), hook]));
  const waits = createWaits(now);
  const responses = createCache<JsonObject>(now);
  for (const hook of versions.flatMap((known) => known.versions)) {
    definitions.set(formatHook(hook), hook);
  }

  /** The labels of a namespace, or why they are not known. */
  async function labelsOf(namespace: string): Promise<{ labels: Readonly<Record<string, string>> } | CallError> {
    const failed = (problem: string): CallError => ({
      step: 'selector',
      message: `failed to get namespace ${JSON.stringify(namespace)}: ${problem}`,
    });
    if (options.namespaceLabels === undefined) {
      return { labels: {} };
    }
    try {
      const labels = await options.namespaceLabels(namespace);
      return labels === undefined ? failed('it does not exist') : { labels };
    } catch (error) {
      return failed((error as Error).message);
    }
  }

  /**
   * Tells which extensions select the namespace of an object. The namespace is looked up once, for the first selector
   * with requirements; each selector is evaluated once, however many handlers its extension has.
   */
  function selectorFor({ namespace }: CalledObject): (extension: Extension) => Promise<boolean | CallError> {
    let labels: ReturnType<typeof labelsOf> | undefined;
    const decided = new Map<Extension, boolean | CallError>();
    return async (extension) => {
      const known = decided.get(extension);
      if (known !== undefined) {
        return known;
      }
      const { namespaceSelector: selector } = extension;
      let selected: boolean | CallError = selector !== undefined;
      if (selector !== undefined && Object.values(selector).some((part) => Object.keys(part ?? {}).length > 0)) {
        labels ??= labelsOf(namespace);
        const found = await labels;
        selected = isCallError(found) ? found : selectsLabels(selector, found.labels);
      }
      decided.set(extension, selected);
      return selected;
    };
  }

  /** The request in the version of the hook, with the extension's settings, which its own settings override. */
  function complete(hook: HookDefinition, request: object, settings: Extension['settings']): JsonObject {
    const own = (request as { settings?: Record<string, string> }).settings;
    const merged = { ...settings, ...own };
    return {
      ...(request as JsonObject),
      apiVersion: `${hook.group}/${hook.version}`,
      kind: hook.request.kind,
      ...(Object.keys(merged).length === 0 || hook.singleton ? {} : { settings: merged }),
    };
  }

  function converted(
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

  /** Steps 4 to 7 of a call: what happens once it is known which handler is called. */
  async function callHandler(
    hook: HookDefinition,
    handler: RegisteredHandler,
    { request, signal, cache = false }: CallAllOptions<object>,
  ): Promise<CallResult<JsonObject>> {
    const failed = (error: CallError): CallResult<JsonObject> => ({ ok: false, error });
    const body = complete(hook, request, handler.extension.settings);
    const problems = messageProblems(hook, 'request', body, 'strict');
    if (problems.length > 0) {
      return failed({ step: 'request', message: `the request is not valid: ${formatProblems(problems)}` });
    }
    const caching = cache ? responseCachingOf(hook) : undefined;
    const identity = caching?.keyOf(handler.name, handler.extension, body);
    const cacheKey = identity === undefined ? undefined : JSON.stringify([formatHook(hook), identity]);
    const remembered = cacheKey === undefined ? undefined : responses.get(cacheKey);
    if (remembered !== undefined) {
      return { ok: true, response: structuredClone(remembered), from: 'cache' };
    }
    const isOtherVersion = handler.version !== hook.version;
    const theirs = definitions.get(formatHook({ group: handler.group, version: handler.version, name: handler.hook }));
    if (theirs === undefined) {
      const message = `failed to convert request: ${formatHook({ ...hook, version: handler.version })} is not in the Runtime SDK catalog`;
      return failed({ step: 'convert', message });
    }
    const outgoing = isOtherVersion
      ? converted(hook, (known) => known.requestFor(handler.version, body), 'request')
      : { content: body };
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
        ignoresBackoff: options.mimicsClusterApi === true,
      },
      context,
    );
    if (isCallError(answer)) {
      return handler.failurePolicy === 'Ignore' && isIgnorable(answer)
        ? { ok: true, response: emptyResponse(hook), swallowed: answer, from: 'ignore' }
        : failed(answer);
    }
    // apiVersion and kind of a response are not checked, and may be absent.
    const typed = { ...answer.content, apiVersion: `${handler.group}/${handler.version}`, kind: theirs.response.kind };
    const read = isOtherVersion
      ? converted(hook, (known) => known.responseFor(hook.version, typed), 'response')
      : { content: typed };
    if (isCallError(read)) {
      return failed(read);
    }
    const response = read.content;
    const error = statusError(response);
    if (error !== undefined) {
      return failed(error);
    }
    const finished: JsonObject = hook.isBlocking ? { retryAfterSeconds: 0, ...response } : response;
    if (cacheKey !== undefined && caching !== undefined) {
      responses.set(cacheKey, structuredClone(finished), caching.lifeMs);
    }
    return { ok: true, response: finished, from: 'extension' };
  }

  function checkHook(hook: HookDefinition): CallError | undefined {
    return definitions.has(formatHook(hook))
      ? undefined
      : { step: 'hook', message: `${formatHook(hook)} is not in the Runtime SDK catalog` };
  }

  async function handlersFor(hook: HookDefinition, object: CalledObject): Promise<RegisteredHandler[] | CallError> {
    const all = registry.list(hook.group, hook.name);
    if (isCallError(all)) {
      return all;
    }
    const selects = selectorFor(object);
    const selected: RegisteredHandler[] = [];
    for (const handler of all) {
      const isSelected = await selects(handler.extension);
      if (isCallError(isSelected)) {
        return prefixed(`failed to compute if extension handler ${JSON.stringify(handler.name)} is called`, isSelected);
      }
      if (isSelected) {
        selected.push(handler);
      }
    }
    return selected;
  }

  return {
    registry,
    async discover(config, { signal } = {}) {
      const extension = extensionOf(config);
      const prefix = `failed to discover extension ${JSON.stringify(extension.name)}`;
      const failed = (error: CallError, problems: DiscoveryProblem[] = [], handlers: DiscoveredHandler[] = []) => ({
        ok: false as const,
        error: prefixed(prefix, error),
        problems,
        handlers,
      });
      const hook = hooks.Discovery;
      const answer = await exchange(
        {
          extension,
          hook,
          callerVersion: hook.version,
          handler: undefined,
          timeoutSeconds: discoveryTimeoutSeconds,
          request: complete(hook, {}, {}),
          signal,
          maxAnswerBytes: maxDiscoveryBytes,
          ignoresBackoff: true,
        },
        context,
      );
      if (isCallError(answer)) {
        return failed(answer);
      }
      const response = answer.content;
      const error = statusError(response);
      if (error !== undefined) {
        return failed(error);
      }
      const { handlers, problems } = readDiscovery(response, extension.name, { catalog, release });
      return problems.length === 0
        ? { ok: true, handlers }
        : failed(
            { step: 'validation', message: `failed to validate discovery response: ${aggregate(problems)}` },
            problems,
            handlers,
          );
    },
    async callExtension<Request extends object, Response extends object>(
      hook: HookDefinition<Request, Response>,
      call: CallOptions<Request>,
    ): Promise<CallResult<Response>> {
      const prefix = `failed to call extension handler ${JSON.stringify(call.handler)}`;
      const failed = (error: CallError): CallResult<Response> => ({ ok: false, error: prefixed(prefix, error) });
      const unknown = checkHook(hook);
      if (unknown !== undefined) {
        return failed(unknown);
      }
      const handler = registry.get(call.handler);
      if (isCallError(handler)) {
        return failed(handler);
      }
      if (handler.group !== hook.group || handler.hook !== hook.name) {
        const message = `handler does not match GroupHook ${JSON.stringify(formatGroupHook(hook))}`;
        return failed({ step: 'registry', message });
      }
      const isSelected = await selectorFor(call.object)(handler.extension);
      if (isSelected !== true) {
        const { namespace, name } = call.object;
        return failed(
          isCallError(isSelected)
            ? isSelected
            : { step: 'selector', message: `namespaceSelector did not match object ${namespace}/${name}` },
        );
      }
      const waitKey = call.cache ? waits.keyOf(hook, call.object, handler.name) : undefined;
      const wait = waits.running(hook, waitKey);
      if (wait !== undefined) {
        return { ok: true, response: wait as Response, from: 'wait' };
      }
      const result = await callHandler(hook, handler, call);
      if (!result.ok) {
        return failed(result.error);
      }
      waits.remember(waitKey, result.response);
      return result as CallResult<Response>;
    },
    async callAllExtensions<Request extends object, Response extends object>(
      hook: HookDefinition<Request, Response>,
      call: CallAllOptions<Request>,
    ): Promise<CallAllResult<Response>> {
      const prefix = `failed to call extension handlers for hook ${JSON.stringify(formatGroupHook(hook))}`;
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
      const unknown = checkHook(hook);
      if (unknown !== undefined) {
        return failed(unknown);
      }
      const handlers = await handlersFor(hook, call.object);
      if (isCallError(handlers)) {
        return failed(handlers);
      }
      const waitKey = call.cache ? waits.keyOf(hook, call.object) : undefined;
      // Without a handler nothing blocks, whatever is cached.
      const wait = handlers.length === 0 ? undefined : waits.running(hook, waitKey);
      if (wait !== undefined) {
        const { status, message = '', retryAfterSeconds = 0 } = wait;
        return succeeded({ status, message, retryAfterSeconds });
      }
      const messages: string[] = [];
      let retryAfterSeconds = 0;
      for (const handler of handlers) {
        const result = await callHandler(hook, handler, call);
        calls.push({ handler: handler.name, result: result as CallResult<Response> });
        if (!result.ok) {
          return failed(prefixed(`failed to call extension handler ${JSON.stringify(handler.name)}`, result.error));
        }
        const { message, retryAfterSeconds: retry }: { [key: string]: Json } = result.response;
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
