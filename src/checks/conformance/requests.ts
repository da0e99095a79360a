import type { Json, JsonObject } from '../../kubernetes/index.ts';
import { complete } from '../../runtimehooks/client/index.ts';
import type { HookDefinition, HookName } from '../../runtimehooks/index.ts';
import { sampleRequest } from '../../runtimehooks/messages/index.ts';
import { samples } from '../rehearsal/index.ts';

const { before, after } = samples;

/** The fields of requests in which sample objects are, by hook; those that are left have the values of `sampleRequest`. */
const sampleFields: Readonly<Partial<Record<HookName, (variables: readonly Json[]) => JsonObject>>> = {
  GeneratePatches: (variables) => ({ variables: [...variables, after.builtin], items: after.items }),
  ValidateTopology: (variables) => ({
    variables: [...variables, after.builtin],
    items: after.items.map(({ uid: _, ...item }) => item),
  }),
  CanUpdateMachine: () => ({ current: before.controlPlaneMachine, desired: after.controlPlaneMachine }),
  CanUpdateMachineSet: () => ({ current: before.machineSet, desired: after.machineSet }),
  UpdateMachine: () => ({ desired: after.machine }),
};

/**
 * The request for a handler: complete, with sample objects that are recognizable by their names.
 *
 * @param own the fields of a request from the user, which replace all of these.
 * @param variables values for the variables that the extension defines.
 */
export function requestOf(
  hook: HookDefinition,
  settings: Readonly<Record<string, string>>,
  own: JsonObject | undefined,
  variables: readonly Json[],
): JsonObject {
  const { settings: _, ...sample } = sampleRequest(hook);
  const generated = () => ({
    ...sample,
    ...(hook.about === 'Cluster' && { cluster: after.cluster }),
    ...sampleFields[hook.name as HookName]?.(variables),
  });
  return complete(hook, own ?? generated(), settings);
}
