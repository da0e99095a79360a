import type { ExtensionConfig } from '../api/index.ts';
import { formatHook, type HookDefinition, hooks } from '../hooks/index.ts';
import type { Json, JsonObject } from '../kubernetes/index.ts';
import {
  type CallError,
  createConnections,
  type DiscoveredHandler,
  type DiscoveryProblem,
  defaultTimeoutSeconds,
  type Extension,
  extensionOf,
  isCallError,
  type KnownHooks,
  probeTls,
  quotable,
  type Resolve,
  readAnswer,
  readDiscovery,
  type Target,
  type TlsFacts,
  targetOf,
} from '../runtime/index.ts';
import type { Heard } from './heard.ts';
import { actsOnClusters, requestOf } from './requests.ts';
import { sampleValues } from './variables.ts';

/** Longest answer that is read, in bytes: a hundred times what the sample requests should produce. */
export const maxAnswerBytes = 2 * 1024 * 1024;
/** Calls at a time in the check of load. */
export const callsAtOnce = 50;
/** Maximum number of handlers that are tried; the others are only discovered. */
const maxTried = 64;
/** How long Discovery may take, in seconds: Cluster API's own limit. */
const discoverySeconds = 10;
const longestTimeoutSeconds = 30;

/** Options of a trial. */
export interface TrialOptions {
  known: KnownHooks;
  resolve?: Resolve | undefined;
  /** Whether hooks that act on Clusters and machines are called. */
  withSideEffects: boolean;
  /** Requests of the user, by `formatHook`, used instead of the made-up ones. */
  requests: ReadonlyMap<string, JsonObject>;
  /** The hooks whose messages are known. */
  hooks: readonly HookDefinition[];
  signal: AbortSignal;
  now: () => Date;
}

/** A handler that is called. */
export interface TriedHandler {
  /** Without the name of the ExtensionConfig. */
  name: string;
  hook: HookDefinition;
  timeoutSeconds: number;
  request: JsonObject;
}

/** The result of a discovery. */
export interface Discovered {
  heard: Heard;
  handlers: DiscoveredHandler[];
  problems: DiscoveryProblem[];
}

/** Variation of the request that Cluster API would send. */
export interface Variation {
  /** Default: the request of the handler. */
  body?: string | Buffer | JsonObject;
  withContentType?: boolean;
  /** Changes the path, which includes the query. */
  path?: (path: string) => string;
  /** Timeout in ms. */
  hangUpAfterMs?: number;
}

/**
 * An extension server on trial: what is known about it, and the ways to call it. Responses are reused where possible.
 */
export interface Trial {
  readonly extension: Extension;
  readonly config: ExtensionConfig;
  readonly target: Target | CallError;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly resolve: Resolve | undefined;
  /** The first discovery. */
  readonly discovery: Discovered;
  /** The handlers that are called, in the order of a Cluster's life. */
  readonly handlers: readonly TriedHandler[];
  /** The handlers that are not called, and why. */
  readonly untried: readonly { name: string; because: string }[];
  discover(variation?: Variation): Promise<Discovered>;
  /** One call of a handler. */
  call(handler: TriedHandler, variation?: Variation): Promise<Heard>;
  /** The first call of a handler, as Cluster API makes it. */
  first(handler: TriedHandler): Promise<Heard>;
  /** A second, identical call after the first. Others are compared with it. */
  second(handler: TriedHandler): Promise<Heard>;
  /** The handlers whose first response Cluster API can read. */
  answering(): Promise<readonly TriedHandler[]>;
  /** What TLS handshakes show; undefined when they failed. */
  tls(versions?: Parameters<typeof probeTls>[3]): Promise<TlsFacts | undefined>;
  /** All calls so far. */
  readonly calls: () => number;
  close(): Promise<void>;
}

/** Handlers that get their first call at a time. */
const firstCallsAtOnce = 8;

function remembering<K, V>(make: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** Calls a function with each item, a few at a time; the results are in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** Calls Discovery on a server, and prepares its trial. */
export async function createTrial(config: ExtensionConfig, options: TrialOptions): Promise<Trial> {
  const { known, resolve, signal, now } = options;
  const extension = extensionOf(config);
  const connections = createConnections({
    maxConcurrentCalls: callsAtOnce,
    maxAnswerBytes,
    ...(resolve && { resolve }),
  });
  let calls = 0;

  async function send(
    hook: HookDefinition,
    handler: string | undefined,
    timeoutSeconds: number,
    request: JsonObject,
    variation: Variation,
  ): Promise<Heard> {
    const { group, version, name } = hook;
    const target = targetOf(extension.clientConfig, {
      ...{ group, version, hook: name, timeoutSeconds },
      ...(handler === undefined ? {} : { handler }),
    });
    if (isCallError(target)) {
      return { kind: 'failed', error: target, ms: 0 };
    }
    const { body = request, withContentType = false, path, hangUpAfterMs } = variation;
    const limits = [
      AbortSignal.timeout(timeoutSeconds * 1000),
      ...(hangUpAfterMs === undefined ? [] : [AbortSignal.timeout(hangUpAfterMs)]),
    ];
    calls++;
    const started = performance.now();
    const answer = await connections.post(extension.name, {
      target: path === undefined ? target : { ...target, path: path(target.path) },
      caBundle: extension.clientConfig.caBundle || undefined,
      body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      withoutContentType: !withContentType,
      signal: AbortSignal.any([signal, ...limits]),
    });
    const ms = performance.now() - started;
    if (isCallError(answer)) {
      return { kind: 'failed', error: answer, ms };
    }
    if (answer.code !== 200) {
      return { kind: 'refused', code: answer.code, text: quotable(answer.body.toString('utf8')), ms };
    }
    const read = readAnswer(answer, hook);
    return isCallError(read) ? { kind: 'failed', error: read, ms } : { kind: 'answer', response: read.content, ms };
  }

  const discoveryRequest: JsonObject = {
    apiVersion: `${hooks.Discovery.group}/${hooks.Discovery.version}`,
    kind: hooks.Discovery.request.kind,
  };
  async function discover(variation: Variation = {}): Promise<Discovered> {
    const heard = await send(hooks.Discovery, undefined, discoverySeconds, discoveryRequest, variation);
    return heard.kind === 'answer' && heard.response.status === 'Success'
      ? { heard, ...readDiscovery(heard.response, extension.name, known) }
      : { heard, handlers: [], problems: [] };
  }

  const definitions = new Map(options.hooks.map((hook) => [formatHook(hook), hook]));
  const untried: { name: string; because: string }[] = [];
  function tried(handlers: readonly DiscoveredHandler[], variables: readonly Json[]): TriedHandler[] {
    untried.length = 0;
    const found = handlers.flatMap(({ name, requestHook, timeoutSeconds = defaultTimeoutSeconds }, index) => {
      const short = name.slice(0, name.lastIndexOf('.'));
      const [group = '', version = ''] = requestHook.apiVersion.split('/');
      const hook = definitions.get(formatHook({ group, version, name: requestHook.hook }));
      const because =
        hook === undefined || hook.singleton
          ? 'the messages of their hooks are unknown'
          : index >= maxTried
            ? `only the first ${maxTried} handlers are called`
            : actsOnClusters(hook) && !options.withSideEffects
              ? 'their hooks act on Clusters: call them for made-up objects with --with-side-effects'
              : undefined;
      if (because !== undefined || hook === undefined) {
        untried.push({ name: short, because: because ?? '' });
        return [];
      }
      const seconds =
        timeoutSeconds >= 1 && timeoutSeconds <= longestTimeoutSeconds ? timeoutSeconds : defaultTimeoutSeconds;
      const own = options.requests.get(formatHook(hook));
      return [
        { name: short, hook, timeoutSeconds: seconds, request: requestOf(hook, extension.settings, own, variables) },
      ];
    });
    const order = (handler: TriedHandler) => options.hooks.indexOf(handler.hook);
    return found.sort((a, b) => order(a) - order(b));
  }

  const call = (handler: TriedHandler, variation: Variation = {}) =>
    send(handler.hook, handler.name, handler.timeoutSeconds, handler.request, variation);
  const first = remembering((handler: TriedHandler) => call(handler));
  const second = remembering(async (handler: TriedHandler) => {
    await first(handler);
    return call(handler);
  });

  const discovery = await discover();
  // Patches depend on variables: those that the extension defines get values of their schemas.
  const questions = tried(discovery.handlers, []).filter(({ hook }) => hook.name === 'DiscoverVariables');
  const defined = await eachOf(questions, firstCallsAtOnce, (handler) => call(handler));
  const values = defined.flatMap((heard) => (heard.kind === 'answer' ? sampleValues(heard.response.variables) : []));
  const handlers = tried(discovery.handlers, values);
  const target = targetOf(extension.clientConfig, { group: '', version: '', hook: '', timeoutSeconds: 10 });
  return {
    extension,
    config,
    target,
    now,
    signal,
    resolve,
    discovery,
    handlers,
    untried,
    discover,
    call,
    first,
    second,
    async answering() {
      await eachOf(
        handlers.filter(({ hook }) => !actsOnClusters(hook)),
        firstCallsAtOnce,
        first,
      );
      // Hooks that act on Clusters are called in the order of a Cluster's life, one after the other.
      const heard = await eachOf(handlers, 1, first);
      return handlers.filter((_, index) => heard[index]?.kind === 'answer');
    },
    async tls(versions) {
      return isCallError(target)
        ? undefined
        : probeTls(target, AbortSignal.any([signal, AbortSignal.timeout(discoverySeconds * 1000)]), resolve, versions);
    },
    calls: () => calls,
    close: () => connections.close(),
  };
}
