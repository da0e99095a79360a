import type { Json, JsonObject } from '../../kubernetes/index.ts';
import type { DiscoveredHandler } from '../../runtimehooks/client/index.ts';
import { defaultTimeoutSeconds, formatHook, type HookDefinition, maxTimeoutSeconds } from '../../runtimehooks/index.ts';
import type { Callee } from './caller.ts';
import { requestOf } from './requests.ts';

/** Maximum number of handlers that are called; further handlers are only discovered. */
const maxTried = 64;

/** What decides which handlers are called. */
export interface Choice {
  /** The hooks whose messages are known, in the order of a Cluster's lifecycle. */
  hooks: readonly HookDefinition[];
  /** Whether hooks that act on Clusters and machines are called. */
  withSideEffects: boolean;
  /** The user's requests, by `formatHook`, which replace the generated ones. */
  requests: ReadonlyMap<string, JsonObject>;
}

/** A handler that is not called, and why. */
export interface NotCalled {
  name: string;
  reason: string;
}

/**
 * Chooses the handlers to call, each with its request, in the order of a Cluster's lifecycle.
 *
 * @param settings of the ExtensionConfig.
 * @param variables values of the variables that the extension defines, as in requests.
 */
export function chooseHandlers(
  discovered: readonly DiscoveredHandler[],
  settings: Readonly<Record<string, string>>,
  variables: readonly Json[],
  { hooks, withSideEffects, requests }: Choice,
): { handlers: readonly Callee[]; notCalled: readonly NotCalled[] } {
  const definitions = new Map(hooks.map((hook) => [formatHook(hook), hook]));
  const notCalled: NotCalled[] = [];
  const handlers: Callee[] = [];
  for (const [index, handler] of discovered.entries()) {
    const { requestHook, timeoutSeconds = defaultTimeoutSeconds } = handler;
    const name = handler.name.slice(0, handler.name.lastIndexOf('.'));
    const [group = '', version = ''] = requestHook.apiVersion.split('/');
    const hook = definitions.get(formatHook({ group, version, name: requestHook.hook }));
    if (hook === undefined || hook.singleton) {
      notCalled.push({ name, reason: 'the messages of their hooks are unknown' });
    } else if (index >= maxTried) {
      notCalled.push({ name, reason: `only the first ${maxTried} handlers are called` });
    } else if (!hook.isQuestion && !withSideEffects) {
      const reason = 'their hooks act on Clusters: call them for made-up objects with --with-side-effects';
      notCalled.push({ name, reason });
    } else {
      const isAccepted = timeoutSeconds >= 1 && timeoutSeconds <= maxTimeoutSeconds;
      const request = requestOf(hook, settings, requests.get(formatHook(hook)), variables);
      handlers.push({ name, hook, timeoutSeconds: isAccepted ? timeoutSeconds : defaultTimeoutSeconds, request });
    }
  }
  const order = ({ hook }: Callee) => hooks.indexOf(hook);
  return { handlers: handlers.sort((a, b) => order(a) - order(b)), notCalled };
}
