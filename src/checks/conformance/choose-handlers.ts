import type { Json, JsonObject } from '../../kubernetes/index.ts';
import { complete, type DiscoveredHandler } from '../../runtimehooks/client/index.ts';
import {
  clusterApiHooks,
  defaultTimeoutSeconds,
  formatHook,
  type HookDefinition,
  maxTimeoutSeconds,
} from '../../runtimehooks/index.ts';
import { requestFor } from './sample-requests.ts';

/** A handler, with the request that Cluster API would send. */
export interface Callee {
  /** Name of the handler without that of the ExtensionConfig; undefined for Discovery. */
  name: string | undefined;
  hook: HookDefinition;
  timeoutSeconds: number;
  request: JsonObject;
}

/** Maximum number of handlers that are called; further handlers are only discovered. */
const maxTried = 64;

/** The choice of handlers to call. */
export interface Choice {
  withSideEffects: boolean;
  /** The user's requests, by `formatHook`, which replace the generated ones. */
  requests: ReadonlyMap<string, JsonObject>;
}

/** A handler that is not called, and why. */
export interface NotCalled {
  name: string;
  reason: string;
}

/** Chooses the handlers to call, in the order of a Cluster's lifecycle. `variables`: values of those that the extension defines. */
export async function chooseHandlers(
  discovered: readonly DiscoveredHandler[],
  settings: Readonly<Record<string, string>>,
  variables: readonly Json[],
  { withSideEffects, requests }: Choice,
): Promise<{ handlers: readonly Callee[]; notCalled: readonly NotCalled[] }> {
  const notCalled: NotCalled[] = [];
  const handlers: Callee[] = [];
  for (const [index, handler] of discovered.entries()) {
    const { requestHook, timeoutSeconds = defaultTimeoutSeconds } = handler;
    const name = handler.name.slice(0, handler.name.lastIndexOf('.'));
    const [group = '', version = ''] = requestHook.apiVersion.split('/');
    const named = formatHook({ group, version, name: requestHook.hook });
    const hook = clusterApiHooks.find((one) => formatHook(one) === named);
    if (hook === undefined || hook.singleton) {
      notCalled.push({ name, reason: 'the messages of their hooks are unknown' });
    } else if (index >= maxTried) {
      notCalled.push({ name, reason: `only the first ${maxTried} handlers are called` });
    } else if (!hook.isQuestion && !withSideEffects) {
      const reason = 'their hooks act on Clusters: call them for made-up objects with --with-side-effects';
      notCalled.push({ name, reason });
    } else {
      const isAccepted = timeoutSeconds >= 1 && timeoutSeconds <= maxTimeoutSeconds;
      const own = requests.get(formatHook(hook));
      const request = complete(hook, own ?? (await requestFor(hook, variables)), settings);
      handlers.push({ name, hook, timeoutSeconds: isAccepted ? timeoutSeconds : defaultTimeoutSeconds, request });
    }
  }
  const order = ({ hook }: Callee) => clusterApiHooks.indexOf(hook);
  return { handlers: handlers.sort((a, b) => order(a) - order(b)), notCalled };
}
