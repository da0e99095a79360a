import { fieldAt, type Json, type JsonObject, nameOf, namespaceOf, objectAt } from '../../kubernetes/index.ts';
import { applyPatch, BadPatch, isEmptyPatch, machineFieldNames } from '../../runtimehooks/index.ts';
import type { UpdateRequest } from '../control-planes/index.ts';
import { type Difference, differencesOf } from '../world/differences.ts';
import type { GroupChange, PlanOptions } from '../world/groups.ts';
import { NotKnown } from '../world/not-known.ts';

const notCompared = [
  'clusterName',
  'bootstrap',
  'infrastructureRef',
  'providerID',
  ...machineFieldNames('MachineDeployment', 'machines'),
  ...machineFieldNames('ControlPlane', 'machines'),
];

const compared = (spec: Json): JsonObject =>
  Object.fromEntries(Object.entries(objectAt(spec)).filter(([field]) => !notCompared.includes(field)));

/** An object with the patch of an answer applied to it (ApplyPatchToObject in internal/util/patch, v1.14). */
function patchedBy(response: JsonObject, field: string, object: JsonObject): JsonObject {
  const patch = objectAt(response, field);
  const { patchType = '', patch: encoded = '' } = patch;
  if ((patchType === '' && encoded === '') || isEmptyPatch(patch)) {
    return object;
  }
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    const why = patchType === '' ? 'patchType is not set' : `unknown patchType ${patchType}`;
    throw new BadPatch(`failed to apply patch: ${why}`);
  }
  return applyPatch(object, patch, 'object');
}

const comparedPaths = { CanUpdateMachine: ['spec'], CanUpdateMachineSet: ['spec', 'template', 'spec'] } as const;
type UpdateHook = keyof typeof comparedPaths;

/** The fields that the patches of an answer do not cover. @throws {BadPatch} when one cannot be applied. */
function uncovered(
  hook: UpdateHook,
  { current, desired }: UpdateRequest,
  response: JsonObject,
): { object: JsonObject; differences: Difference[] }[] {
  const path = comparedPaths[hook];
  return Object.entries(desired).flatMap(([part, object]) => {
    const patched = patchedBy(response, `${part}Patch`, current[part] ?? {});
    const [one, other] = [fieldAt(patched, ...path) ?? {}, fieldAt(object, ...path) ?? {}];
    const shown = part === 'machine' || part === 'machineSet' ? compared : (spec: Json) => spec;
    const differences = differencesOf(shown(one), shown(other), path);
    return differences.length === 0 ? [] : [{ object, differences }];
  });
}

export type UpdateAnswer =
  | { is: 'covered'; handler: string; affectsAvailability: boolean }
  | { is: 'uncovered'; handler: string; fields: { object: JsonObject; differences: Difference[] }[] }
  | { is: 'none' }
  | { is: 'failed'; error: string };

/** Whether a release lets extensions say that an update does not affect availability: since v1.15. */
export const knowsAvailability = ({ clusterApiVersion }: PlanOptions): boolean =>
  clusterApiVersion === undefined || clusterApiVersion.minor >= 15;

/** Asks the extension for updates in place, as the controllers do if the feature gate is enabled. @throws {NotKnown} without an answer. */
export async function askForUpdate(
  { cluster }: GroupChange,
  options: PlanOptions,
  hook: UpdateHook,
  request: UpdateRequest,
): Promise<UpdateAnswer> {
  const { call } = options;
  if (call === undefined) {
    throw new NotKnown(`${hook} is not called, so whether an extension updates Machines in place is not known`, {
      remedy: 'pass the ExtensionConfig, and let it be called',
    });
  }
  const object = { namespace: namespaceOf(cluster), name: nameOf(cluster) };
  const answer = await call({ state: 'after', hook, handler: '', request: { ...request }, object });
  if (answer.is !== 'answered') {
    return answer;
  }
  try {
    const fields = uncovered(hook, request, answer.response);
    const affectsAvailability = !knowsAvailability(options) || answer.response.affectsAvailability !== false;
    return fields.length === 0
      ? { is: 'covered', handler: answer.handler, affectsAvailability }
      : { is: 'uncovered', handler: answer.handler, fields };
  } catch (error) {
    if (error instanceof BadPatch) {
      return { is: 'failed', error: error.message };
    }
    throw error;
  }
}
