import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { Json, JsonObject } from '../../kubernetes/index.ts';
import {
  type CallError,
  type DiscoveredHandler,
  type DiscoveryProblem,
  type Extension,
  extensionOf,
  isCallError,
  type KnownHooks,
  probeTls,
  type Resolve,
  readDiscovery,
  type Target,
  type TlsFacts,
  targetOf,
} from '../../runtimehooks/client/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import { createCaller, type Variation } from './caller.ts';
import { type Heard, isSameAnswer } from './heard.ts';
import { actsOnClusters } from './requests.ts';
import { type Choice, chooseHandlers, type TriedHandler } from './tried.ts';
import { sampleValues } from './variables.ts';

/** Timeout of Discovery, in seconds: Cluster API's own. */
const discoverySeconds = 10;

/** Options of a trial. */
export interface TrialOptions extends Choice {
  known: KnownHooks;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
  now: () => Date;
}

/** The result of one discovery. */
export interface Discovered {
  heard: Heard;
  handlers: DiscoveredHandler[];
  problems: DiscoveryProblem[];
}

/**
 * An extension server being checked: what is known about it, and the ways to call it. Responses are reused where
 * possible.
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
  /** The handlers to call, in the order of a Cluster's lifecycle. */
  readonly handlers: readonly TriedHandler[];
  /** The handlers that are not called, and why. */
  readonly untried: readonly { name: string; because: string }[];
  discover(variation?: Variation): Promise<Discovered>;
  /** One call of a handler. */
  call(handler: TriedHandler, variation?: Variation): Promise<Heard>;
  /** The first call of a handler, as Cluster API would make it. */
  first(handler: TriedHandler): Promise<Heard>;
  /** A second, identical call. Responses to other calls are compared with it. */
  second(handler: TriedHandler): Promise<Heard>;
  /**
   * Whether the first two responses of a handler are the same. If not, the check for that says so, and a comparison with
   * responses to other calls would show nothing else.
   */
  isSteady(handler: TriedHandler): Promise<boolean>;
  /** The handlers whose first response Cluster API can read. */
  answering(): Promise<readonly TriedHandler[]>;
  /** What a TLS handshake reveals; undefined if it failed. */
  tls(versions?: Parameters<typeof probeTls>[3]): Promise<TlsFacts | undefined>;
  /** Number of calls so far. */
  readonly calls: () => number;
  close(): Promise<void>;
}

/** Number of handlers that get their first call concurrently. */
const firstCallsAtOnce = 8;

function remembering<K, V>(make: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** Calls a function for each item, a few at a time; the results are in the order of the items. */
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
  const caller = createCaller(extension, resolve, signal);

  const discoveryBody: JsonObject = {
    apiVersion: `${hooks.Discovery.group}/${hooks.Discovery.version}`,
    kind: hooks.Discovery.request.kind,
  };
  async function discover(variation: Variation = {}): Promise<Discovered> {
    const heard = await caller.send(
      { hook: hooks.Discovery, handler: undefined, timeoutSeconds: discoverySeconds, body: discoveryBody },
      variation,
    );
    return heard.kind === 'answer' && heard.response.status === 'Success'
      ? { heard, ...readDiscovery(heard.response, extension.name, known) }
      : { heard, handlers: [], problems: [] };
  }

  const call = ({ hook, name, timeoutSeconds, request }: TriedHandler, variation: Variation = {}) =>
    caller.send({ hook, handler: name, timeoutSeconds, body: request }, variation);

  const discovery = await discover();
  const choose = (values: readonly Json[]) => chooseHandlers(discovery.handlers, extension.settings, values, options);
  // Patches depend on variables, so those that the extension defines get values that match their schemas.
  const questions = choose([]).handlers.filter(({ hook }) => hook.name === 'DiscoverVariables');
  const defined = await eachOf(questions, firstCallsAtOnce, (handler) => call(handler));
  const values = defined.flatMap((heard) => (heard.kind === 'answer' ? sampleValues(heard.response.variables) : []));
  const { handlers, untried } = choose(values);
  // Requests for the definitions of variables contain no values: these are the first calls.
  const asked = new Map(questions.map(({ name }, index) => [name, defined[index]]));
  const first = remembering(
    async (handler: TriedHandler) =>
      (handler.hook.name === 'DiscoverVariables' ? asked.get(handler.name) : undefined) ?? call(handler),
  );
  const second = remembering(async (handler: TriedHandler) => {
    await first(handler);
    return call(handler);
  });
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
    isSteady: async (handler) => isSameAnswer(await first(handler), await second(handler)),
    async answering() {
      await eachOf(
        handlers.filter(({ hook }) => !actsOnClusters(hook)),
        firstCallsAtOnce,
        first,
      );
      // Hooks that act on Clusters are called in the order of a Cluster's lifecycle, one after the other.
      const heard = await eachOf(handlers, 1, first);
      return handlers.filter((_, index) => heard[index]?.kind === 'answer');
    },
    async tls(versions) {
      return isCallError(target)
        ? undefined
        : probeTls(target, AbortSignal.any([signal, AbortSignal.timeout(discoverySeconds * 1000)]), resolve, versions);
    },
    calls: caller.calls,
    close: caller.close,
  };
}
