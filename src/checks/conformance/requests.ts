import type { Json, JsonObject } from '../../kubernetes/index.ts';
import { complete } from '../../runtimehooks/client/index.ts';
import type { HookDefinition } from '../../runtimehooks/index.ts';
import { sampleRequest } from '../../runtimehooks/messages/index.ts';
import { samples } from '../rehearsal/index.ts';

const { before, after } = samples;

function fieldsOf(name: string, variables: readonly Json[]): JsonObject {
  switch (name) {
    case 'GeneratePatches':
      return { variables: [...variables, after.builtin], items: after.items };
    case 'ValidateTopology':
      return { variables: [...variables, after.builtin], items: after.items.map(({ uid: _, ...item }) => item) };
    case 'CanUpdateMachine':
      return { current: before.controlPlaneMachine, desired: after.controlPlaneMachine };
    case 'CanUpdateMachineSet':
      return { current: before.machineSet, desired: after.machineSet };
    case 'UpdateMachine':
      return { desired: after.machine };
    default:
      return {};
  }
}

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
    ...(sample.cluster !== undefined && { cluster: after.cluster }),
    ...fieldsOf(hook.name, variables),
  });
  return complete(hook, own ?? generated(), settings);
}

/** Whether the handlers of a hook act on Clusters and machines, rather than only answer questions. */
export function actsOnClusters({ name, tags }: HookDefinition): boolean {
  const questions = ['Topology Mutation Hook', 'Chained Upgrade Hook'];
  return !tags.some((tag) => questions.includes(tag)) && !name.startsWith('CanUpdate');
}
