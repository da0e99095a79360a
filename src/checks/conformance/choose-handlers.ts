import type { Json, JsonObject } from '../../kubernetes/index.ts';
import { complete, type DiscoveredHandler } from '../../runtimehooks/client/index.ts';
import {
  defaultTimeoutSeconds,
  formatHook,
  type HookDefinition,
  type HookName,
  maxTimeoutSeconds,
} from '../../runtimehooks/index.ts';
import { sampleRequest } from '../../runtimehooks/messages/index.ts';
import { samples } from './sample-requests.ts';

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

/** The fields of requests in which sample objects are, by hook; those that are left have the values of `sampleRequest`. */
const sampleFields: Readonly<Partial<Record<HookName, (variables: readonly Json[]) => JsonObject>>> = {
  GeneratePatches: (variables) => ({ variables: [...variables, samples.builtin], items: samples.items }),
  ValidateTopology: (variables) => ({
    variables: [...variables, samples.builtin],
    items: samples.items.map(({ uid: _, ...item }) => item),
  }),
  CanUpdateMachine: () => samples.CanUpdateMachine,
  CanUpdateMachineSet: () => samples.CanUpdateMachineSet,
  UpdateMachine: () => samples.UpdateMachine,
};

/**
 * The request for a handler: complete, with sample objects that are recognizable by their names.
 *
 * @param own the fields of a request from the user, which replace all of these.
 * @param variables values for the variables that the extension defines.
 */
function requestOf(
  hook: HookDefinition,
  settings: Readonly<Record<string, string>>,
  own: JsonObject | undefined,
  variables: readonly Json[],
): JsonObject {
  const { settings: _, ...sample } = sampleRequest(hook);
  const generated = () => ({
    ...sample,
    ...(hook.about === 'Cluster' && { cluster: samples.cluster }),
    ...sampleFields[hook.name as HookName]?.(variables),
  });
  return complete(hook, own ?? generated(), settings);
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
