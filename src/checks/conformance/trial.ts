import { eachOf } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { Json, JsonObject } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import {
  ExtensionConnections,
  extensionOf,
  isCallError,
  type KnownHooks,
  type Resolve,
  readAnswer,
  readDiscovery,
  targetOf,
} from '../../runtimehooks/client/index.ts';
import { defaultTimeoutSeconds, hooks } from '../../runtimehooks/index.ts';
import type { Recording } from '../plan/index.ts';
import { type Callee, type Choice, chooseHandlers } from './choose-handlers.ts';
import { isSameOutcome, isSuccess, type Outcome } from './outcome.ts';
import { effectOf } from './review-patches.ts';
import { sampleValues } from './variables.ts';

/** Longest response that is read, in bytes: a hundred times what the sample requests should produce. */
const maxAnswerBytes = 2 * 1024 * 1024;
/** Number of handlers that get their first call concurrently. */
const concurrentFirstCalls = 8;

/** How a call differs from the request that Cluster API would send. */
interface Variation {
  /** Default: the request of the handler. */
  body?: string | Buffer | JsonObject;
  withContentType?: boolean;
}

/** Creates the caller of an extension server, over persistent connections; `signal` aborts its calls. */
function createCaller(extension: ReturnType<typeof extensionOf>, resolve: Resolve | undefined, signal: AbortSignal) {
  const connections = new ExtensionConnections({ resolve }, concurrentFirstCalls);
  let calls = 0;
  const targetFor = (callee: Callee) => targetOf(extension.clientConfig, callee);
  return {
    /** Makes one call. Never rejects: a failure is also an outcome. */
    async send(callee: Callee, variation: Variation): Promise<Outcome> {
      const { hook, timeoutSeconds, request } = callee;
      const target = targetFor(callee);
      if (isCallError(target)) {
        return { error: target, ms: 0 };
      }
      const { body = request, withContentType = false } = variation;
      const isObject = typeof body !== 'string' && !Buffer.isBuffer(body);
      calls++;
      const started = performance.now();
      const answer = await connections.post(extension.name, {
        target,
        caBundle: extension.clientConfig.caBundle || undefined,
        body: isObject ? JSON.stringify(body) : body,
        hasContentType: withContentType,
        maxAnswerBytes,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
      });
      const ms = performance.now() - started;
      const read = isCallError(answer) ? answer : readAnswer(answer, hook);
      if (isCallError(read)) {
        return { error: read, ms };
      }
      let effect: JsonObject | undefined;
      return {
        response: read.content,
        effect() {
          effect ??= effectOf(hook, isObject ? body : request, read.content);
          return effect;
        },
        ms,
      };
    },
    calls: () => calls,
    close: () => connections.close(),
  };
}

export interface TrialOptions extends Choice {
  known: KnownHooks;
  /** The answers of an earlier release of the extension. */
  recorded?: Recording | undefined;
  /** The schemas of templates, which patched ones must match. */
  schemaOf?: SchemaOf | undefined;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
}

/** The subject of a call: a handler, or Discovery. Its first answers are reused where possible. */
function createCheckedHandler(callee: Callee, send: ReturnType<typeof createCaller>['send']) {
  let first: Promise<Outcome> | undefined;
  let second: Promise<Outcome> | undefined;
  /** Whether two calls had the same outcome; for a hook that can block, whether their statuses are the same. */
  const isSame = (a: Outcome, b: Outcome) =>
    callee.hook.isBlocking && a.response !== undefined && b.response !== undefined
      ? a.response.status === b.response.status
      : isSameOutcome(a, b);
  const checked = {
    ...callee,
    /** Whether its answers to the same call were found to differ. */
    isUnsteady: false,
    call: (variation: Variation = {}): Promise<Outcome> => send(callee, variation),
    /** The first call, as Cluster API would make it. */
    first(): Promise<Outcome> {
      first ??= checked.call();
      return first;
    },
    /** A second, identical call. Other calls are compared with it, since the first may have started work. */
    async second(): Promise<Outcome> {
      await checked.first();
      second ??= checked.call();
      return second;
    },
    /**
     * Whether another call is treated differently: its outcome differs from that of the plain call (for a hook that can
     * block: the status, since its work may have progressed), and the plain call, made again, still has its own.
     */
    async isAffectedBy(other: Outcome): Promise<boolean> {
      const before = await checked.second();
      if (isSame(before, other)) {
        return false;
      }
      const isSteady = isSame(before, await checked.call()) && isSame(await checked.first(), before);
      checked.isUnsteady ||= !isSteady;
      return isSteady;
    },
  };
  return checked;
}

export type CheckedHandler = ReturnType<typeof createCheckedHandler>;

/** Calls Discovery on a server, and prepares its trial: what is known about the server, and the ways to call it. */
export async function createTrial(config: ExtensionConfig, options: TrialOptions) {
  const { known, recorded, schemaOf, resolve, signal } = options;
  const extension = extensionOf(config);
  const caller = createCaller(extension, resolve, signal);
  const checked = (callee: Callee) => createCheckedHandler(callee, caller.send);
  const { group, version, request } = hooks.Discovery;
  const discovery = checked({
    name: undefined,
    hook: hooks.Discovery,
    timeoutSeconds: defaultTimeoutSeconds,
    request: { apiVersion: `${group}/${version}`, kind: request.kind },
  });
  const read = (outcome: Outcome): ReturnType<typeof readDiscovery> =>
    isSuccess(outcome) ? readDiscovery(outcome.response, extension.name, known) : { handlers: [], problems: [] };
  const outcome = await discovery.first();
  const discovered = { outcome, ...read(outcome) };
  const choose = (values: readonly Json[]) => chooseHandlers(discovered.handlers, extension.settings, values, options);
  // Patches depend on variables, so those that the extension defines get values that match their schemas.
  const first = await choose([]);
  const definers = first.handlers.filter(({ hook }) => hook.name === 'DiscoverVariables').map(checked);
  const definitions = await eachOf(definers, concurrentFirstCalls, (definer) => definer.first());
  const values = definitions.flatMap(({ response }) => (response ? sampleValues(response.variables) : []));
  const chosen = await choose(values);
  // Requests for the definitions of variables contain no values: these were the first calls.
  const handlers = chosen.handlers.map(
    (callee) => definers.find(({ name, hook }) => name === callee.name && hook === callee.hook) ?? checked(callee),
  );
  return {
    ...{ extension, known, recorded, schemaOf, signal, discovery, discovered, handlers },
    notCalled: chosen.notCalled,
    /** The handlers whose first response Cluster API can read. */
    async answering(): Promise<readonly CheckedHandler[]> {
      await eachOf(
        handlers.filter(({ hook }) => hook.isQuestion),
        concurrentFirstCalls,
        (handler) => handler.first(),
      );
      // Hooks that act on Clusters are called in the order of a Cluster's lifecycle, one after the other.
      const outcomes = await eachOf(handlers, 1, (handler) => handler.first());
      return handlers.filter((_, index) => outcomes[index]?.response !== undefined);
    },
    calls: caller.calls,
    close: caller.close,
  };
}

/** An extension server being checked. */
export type Trial = Awaited<ReturnType<typeof createTrial>>;
