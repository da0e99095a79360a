import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { Json, JsonObject } from '../../kubernetes/index.ts';
import {
  addressOf,
  extensionOf,
  isCallError,
  type KnownHooks,
  probeTls,
  type Resolve,
  readDiscovery,
  type TlsFacts,
} from '../../runtimehooks/client/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import { eachOf } from '../each-of.ts';
import { createCaller, type Variation } from './caller.ts';
import { type Choice, chooseHandlers, type TriedHandler } from './choose-handlers.ts';
import { isSameOutcome, isSuccess, type Outcome } from './outcome.ts';
import { actsOnClusters } from './requests.ts';
import { sampleValues } from './variables.ts';

export type { TriedHandler } from './choose-handlers.ts';

/** Timeout of Discovery, in seconds: Cluster API's own. */
const discoverySeconds = 10;

/** Options of a trial. */
export interface TrialOptions extends Choice {
  known: KnownHooks;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
  now: () => Date;
}

/** Number of handlers that get their first call concurrently. */
const concurrentFirstCalls = 8;

function once<K, V>(make: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** Whether two calls of a handler had the same outcome; for one that can block, whether their statuses are the same. */
const isSame = ({ hook }: TriedHandler, a: Outcome, b: Outcome) =>
  hook.isBlocking && a.response !== undefined && b.response !== undefined
    ? a.response.status === b.response.status
    : isSameOutcome(a, b);

/** Calls Discovery on a server, and prepares its trial: what is known about the server, and the ways to call it. */
export async function createTrial(config: ExtensionConfig, options: TrialOptions) {
  const { known, resolve, signal, now } = options;
  const extension = extensionOf(config);
  const caller = createCaller(extension, resolve, signal);
  const { group, version, request } = hooks.Discovery;
  const discoveryBody: JsonObject = { apiVersion: `${group}/${version}`, kind: request.kind };

  async function discover(variation: Variation = {}) {
    const outcome = await caller.send(
      { hook: hooks.Discovery, handler: undefined, timeoutSeconds: discoverySeconds, body: discoveryBody },
      variation,
    );
    const { handlers, problems } = isSuccess(outcome)
      ? readDiscovery(outcome.response, extension.name, known)
      : { handlers: [], problems: [] };
    return { outcome, handlers, problems };
  }

  /** One call of a handler. */
  const call = ({ hook, name, timeoutSeconds, request: body }: TriedHandler, variation: Variation = {}) =>
    caller.send({ hook, handler: name, timeoutSeconds, body }, variation);

  const discovery = await discover();
  const choose = (values: readonly Json[]) => chooseHandlers(discovery.handlers, extension.settings, values, options);
  // Patches depend on variables, so those that the extension defines get values that match their schemas.
  const definers = choose([]).handlers.filter(({ hook }) => hook.name === 'DiscoverVariables');
  const definitions = await eachOf(definers, concurrentFirstCalls, (handler) => call(handler));
  const values = definitions.flatMap(({ response }) => (response ? sampleValues(response.variables) : []));
  const { handlers, untried } = choose(values);
  // Requests for the definitions of variables contain no values: these are the first calls.
  const defined = new Map(definers.map(({ name }, index) => [name, definitions[index]]));
  /** The first call of a handler, as Cluster API would make it. */
  const first = once(
    async (handler: TriedHandler) =>
      (handler.hook.name === 'DiscoverVariables' ? defined.get(handler.name) : undefined) ?? call(handler),
  );
  /** A second, identical call. Other calls are compared with it, since the first may have started work. */
  const second = once(async (handler: TriedHandler) => {
    await first(handler);
    return call(handler);
  });
  const target = addressOf(extension.clientConfig);
  const unsteady = new Set<TriedHandler>();
  return {
    ...{ extension, known, target, now, signal, resolve, discovery, discover, call, first, second },
    /** The handlers to call, in the order of a Cluster's lifecycle. */
    handlers,
    /** The handlers that are not called, and why. */
    untried,
    /** The handlers whose answers to the same call were found to differ. */
    unsteady,
    /**
     * Whether another call of a handler is treated differently: its outcome differs from that of the plain call (for a
     * hook that can block: the status, since its work may have progressed), and the plain call, made again, still has its
     * own. If not, the handler is unsteady, which the check `repeatable` reports.
     */
    async isBlamed(handler: TriedHandler, other: Outcome): Promise<boolean> {
      const before = await second(handler);
      if (isSame(handler, before, other)) {
        return false;
      }
      const again = await call(handler);
      const isSteady = isSame(handler, before, again) && isSame(handler, await first(handler), before);
      if (!isSteady) {
        unsteady.add(handler);
      }
      return isSteady;
    },
    /** The handlers whose first response Cluster API can read. */
    async answering(): Promise<readonly TriedHandler[]> {
      await eachOf(
        handlers.filter(({ hook }) => !actsOnClusters(hook)),
        concurrentFirstCalls,
        first,
      );
      // Hooks that act on Clusters are called in the order of a Cluster's lifecycle, one after the other.
      const outcomes = await eachOf(handlers, 1, first);
      return handlers.filter((_, index) => outcomes[index]?.response !== undefined);
    },
    /** What a TLS handshake reveals; undefined if it failed. */
    async tls(versions?: Parameters<typeof probeTls>[3]): Promise<TlsFacts | undefined> {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(discoverySeconds * 1000)]);
      return isCallError(target) ? undefined : probeTls(target, limit, resolve, versions);
    },
    /** Number of calls so far. */
    calls: caller.calls,
    close: caller.close,
  };
}

/** An extension server being checked. Responses are reused where possible. */
export type Trial = Awaited<ReturnType<typeof createTrial>>;
