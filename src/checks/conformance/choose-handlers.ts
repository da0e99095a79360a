import type { Json, JsonObject } from '../../kubernetes/index.ts';
import { type DiscoveredHandler, defaultTimeoutSeconds } from '../../runtimehooks/client/index.ts';
import { formatHook, type HookDefinition } from '../../runtimehooks/index.ts';
import { actsOnClusters, requestOf } from './requests.ts';

/** Maximum number of handlers that are called; further handlers are only discovered. */
const maxTried = 64;
const longestTimeoutSeconds = 30;

/** A handler that is called. */
export interface TriedHandler {
  /** Its name without that of the ExtensionConfig. */
  name: string;
  hook: HookDefinition;
  timeoutSeconds: number;
  request: JsonObject;
}

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
export interface Untried {
  name: string;
  reason: string;
}

/** The handlers to call, in the order of a Cluster's lifecycle, and the others. */
interface Chosen {
  handlers: readonly TriedHandler[];
  untried: readonly Untried[];
}

/** Why the handler at this index of the discovery is not called; undefined if it is. */
function reasonAgainst(hook: HookDefinition, index: number, withSideEffects: boolean): string | undefined {
  if (index >= maxTried) {
    return `only the first ${maxTried} handlers are called`;
  }
  return actsOnClusters(hook) && !withSideEffects
    ? 'their hooks act on Clusters: call them for made-up objects with --with-side-effects'
    : undefined;
}

/**
 * Chooses the handlers to call, each with its request.
 *
 * @param settings of the ExtensionConfig.
 * @param variables values of the variables that the extension defines, as in requests.
 */
export function chooseHandlers(
  discovered: readonly DiscoveredHandler[],
  settings: Readonly<Record<string, string>>,
  variables: readonly Json[],
  { hooks, withSideEffects, requests }: Choice,
): Chosen {
  const definitions = new Map(hooks.map((hook) => [formatHook(hook), hook]));
  const untried: Untried[] = [];
  const handlers: TriedHandler[] = [];
  for (const [index, { name, requestHook, timeoutSeconds = defaultTimeoutSeconds }] of discovered.entries()) {
    const short = name.slice(0, name.lastIndexOf('.'));
    const [group = '', version = ''] = requestHook.apiVersion.split('/');
    const hook = definitions.get(formatHook({ group, version, name: requestHook.hook }));
    if (hook === undefined || hook.singleton) {
      untried.push({ name: short, reason: 'the messages of their hooks are unknown' });
      continue;
    }
    const reason = reasonAgainst(hook, index, withSideEffects);
    if (reason !== undefined) {
      untried.push({ name: short, reason });
      continue;
    }
    const isAccepted = timeoutSeconds >= 1 && timeoutSeconds <= longestTimeoutSeconds;
    handlers.push({
      name: short,
      hook,
      timeoutSeconds: isAccepted ? timeoutSeconds : defaultTimeoutSeconds,
      request: requestOf(hook, settings, requests.get(formatHook(hook)), variables),
    });
  }
  const order = ({ hook }: TriedHandler) => hooks.indexOf(hook);
  return { handlers: handlers.sort((a, b) => order(a) - order(b)), untried };
}
