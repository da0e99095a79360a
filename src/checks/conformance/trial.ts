import { eachOf } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import {
  complete,
  type DiscoveredHandler,
  ExtensionConnections,
  exchange,
  extensionOf,
  isCallError,
  type KnownHooks,
  type Resolve,
  readDiscovery,
} from '../../runtimehooks/client/index.ts';
import {
  clusterApiHooks,
  defaultTimeoutSeconds,
  formatHook,
  type HookDefinition,
  hooks,
  maxTimeoutSeconds,
} from '../../runtimehooks/index.ts';
import type { Recording } from '../plan/index.ts';
import { isSameOutcome, isSuccess, type Outcome } from './outcome.ts';
import { requestFor } from './sample-requests.ts';
import { sampleValues } from './variables.ts';

/** Longest response that is read, in bytes: a hundred times what the sample requests should produce. */
const maxAnswerBytes = 2 * 1024 * 1024;
/** Number of handlers that get their first call concurrently. */
const concurrentFirstCalls = 8;
/** Maximum number of handlers that are called; further handlers are only discovered. */
const maxTried = 64;

/** How a call differs from the request that Cluster API would send. */
interface Variation {
  body?: string | JsonObject;
  withContentType?: boolean;
}

/** A handler, or Discovery, with the request that Cluster API would send. */
interface Callee {
  /** Without the name of the ExtensionConfig; undefined for Discovery. */
  name: string | undefined;
  hook: HookDefinition;
  timeoutSeconds: number;
  request: JsonObject;
}

export interface TrialOptions {
  withSideEffects: boolean;
  /** The user's requests, by `formatHook`, which replace the generated ones. */
  requests: ReadonlyMap<string, JsonObject>;
  known: KnownHooks;
  /** The answers of an earlier release of the extension. */
  recorded?: Recording | undefined;
  /** The schemas of templates, which patched ones must match. */
  schemaOf?: SchemaOf | undefined;
  resolve?: Resolve | undefined;
  signal: AbortSignal;
}

/** Chooses the handlers to call, in the order of a Cluster's lifecycle; `notCalled` says why others are not. */
function chooseHandlers(discovered: readonly DiscoveredHandler[], withSideEffects: boolean) {
  const notCalled: { name: string; reason: string }[] = [];
  const chosen: Omit<Callee, 'request'>[] = [];
  for (const [index, handler] of discovered.entries()) {
    const { requestHook, timeoutSeconds = defaultTimeoutSeconds } = handler;
    const name = handler.name.slice(0, handler.name.lastIndexOf('.'));
    const hook = clusterApiHooks.find(
      (one) => one.name === requestHook.hook && `${one.group}/${one.version}` === requestHook.apiVersion,
    );
    if (hook === undefined || hook.singleton) {
      notCalled.push({ name, reason: 'the messages of their hooks are unknown' });
    } else if (index >= maxTried) {
      notCalled.push({ name, reason: `only the first ${maxTried} handlers are called` });
    } else if (!hook.isQuestion && !withSideEffects) {
      const reason = 'their hooks act on Clusters: call them for made-up objects with --with-side-effects';
      notCalled.push({ name, reason });
    } else {
      const isAccepted = timeoutSeconds >= 1 && timeoutSeconds <= maxTimeoutSeconds;
      chosen.push({ name, hook, timeoutSeconds: isAccepted ? timeoutSeconds : defaultTimeoutSeconds });
    }
  }
  chosen.sort((a, b) => clusterApiHooks.indexOf(a.hook) - clusterApiHooks.indexOf(b.hook));
  return { chosen, notCalled };
}

/** The subject of a call: a handler, or Discovery. Its first answers are reused where possible. */
function createCheckedHandler(callee: Callee, send: (callee: Callee, variation: Variation) => Promise<Outcome>) {
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
    /** Whether another call is treated differently, and the plain call, made again, still has its own outcome. */
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
  const { known, recorded, schemaOf, resolve, signal, requests } = options;
  const extension = extensionOf(config);
  const connections = new ExtensionConnections({ resolve }, concurrentFirstCalls);
  let calls = 0;
  async function send(callee: Callee, { body, withContentType = false }: Variation): Promise<Outcome> {
    const { hook, request } = callee;
    calls++;
    const sent = { ...callee, extension, request: body ?? request, signal, maxAnswerBytes };
    const answer = await exchange({ ...sent, mimicsClusterApi: !withContentType }, { connections });
    return isCallError(answer)
      ? { error: answer }
      : { hook, request: typeof body === 'object' ? body : request, response: answer.content, schemaOf };
  }
  const checked = (callee: Callee) => createCheckedHandler(callee, send);
  const hook: HookDefinition = hooks.Discovery;
  const discovery = checked({
    name: undefined,
    hook,
    timeoutSeconds: defaultTimeoutSeconds,
    request: complete(hook, {}, {}),
  });
  const outcome = await discovery.first();
  const { handlers: offered, problems } = isSuccess(outcome)
    ? readDiscovery(outcome.response, extension.name, known)
    : { handlers: [], problems: [] };
  const { chosen, notCalled } = chooseHandlers(offered, options.withSideEffects);
  const values: JsonObject[] = [];
  const prepared = async (callee: (typeof chosen)[number]): Promise<CheckedHandler> => {
    const request = requests.get(formatHook(callee.hook)) ?? (await requestFor(callee.hook, values));
    return checked({ ...callee, request: complete(callee.hook, request, extension.settings) });
  };
  // Patches depend on variables, so those that the extension defines get values that match their schemas.
  const definers = await eachOf(
    chosen.filter((callee) => callee.hook.name === 'DiscoverVariables'),
    concurrentFirstCalls,
    prepared,
  );
  const definitions = await eachOf(definers, concurrentFirstCalls, (definer) => definer.first());
  values.push(...definitions.flatMap(({ response }) => (response ? sampleValues(response) : [])));
  const handlers: CheckedHandler[] = [];
  for (const callee of chosen) {
    const definer = definers.find((one) => one.name === callee.name && one.hook === callee.hook);
    handlers.push(definer ?? (await prepared(callee)));
  }
  return {
    ...{ extension, known, recorded, schemaOf, signal, discovery, handlers, notCalled },
    discovered: { outcome, problems },
    /** The handlers whose first response Cluster API can read. */
    async answering(): Promise<readonly CheckedHandler[]> {
      await eachOf(
        handlers.filter((handler) => handler.hook.isQuestion),
        concurrentFirstCalls,
        (handler) => handler.first(),
      );
      // Hooks that act on Clusters are called in the order of a Cluster's lifecycle, one after the other.
      const outcomes = await eachOf(handlers, 1, (handler) => handler.first());
      return handlers.filter((_, index) => outcomes[index]?.response !== undefined);
    },
    calls: () => calls,
    close: () => connections.close(),
  };
}

export type Trial = Awaited<ReturnType<typeof createTrial>>;

/** Reports a problem, of a handler if it is about one: as an error if the check is a `must`, unless it is only a warning. */
export type ReportProblem = (message: string, handler?: { name: string | undefined }, isWarning?: boolean) => void;

/** One property of a well-behaved extension: data plus one function, like a rule. */
export interface Check {
  id: string;
  /** `must`: otherwise Cluster API, or the Clusters, would suffer. `should`: a recommendation of the Runtime SDK. */
  level: 'must' | 'should';
  requirement: string;
  reason: string;
  remedy: string;
  /** Returns why it was skipped, if it was. */
  run(trial: Trial, report: ReportProblem): Promise<string | undefined>;
}

type Look = (handler: CheckedHandler, report: (message: string, isWarning?: boolean) => void) => Promise<void>;

/** Checks the handlers that respond, one after the other; skipped for `reason` if none of them is selected. */
export const ofAnswering =
  (look: Look, reason = 'no handler answers', isSelected: (handler: CheckedHandler) => boolean = () => true) =>
  async (trial: Trial, report: ReportProblem): Promise<string | undefined> => {
    const handlers = (await trial.answering()).filter(isSelected);
    for (const handler of handlers) {
      await look(handler, (message, isWarning) => report(message, handler, isWarning));
    }
    return handlers.length === 0 ? reason : undefined;
  };

export const ofHook = (hook: string, look: Look) =>
  ofAnswering(look, `no handler of ${hook} answers`, (handler) => handler.hook.name === hook);
