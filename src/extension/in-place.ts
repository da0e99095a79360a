import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  Patch,
} from '../hooks/index.ts';
import { copyOf, encodedPatch, isJsonObject, type JsonObject, jsonPatchOf } from '../kubernetes/index.ts';
import { getField, setField } from './json-path.ts';

/** The fields that an extension can change in place, as paths below each object: `{ machine: ['spec.version'] }`. */
export type ChangeableFields<Objects extends string> = { readonly [Name in Objects]?: readonly string[] | undefined };

/** The fields of a CanUpdateMachine response, without its envelope. */
type MachinePatches = Pick<
  CanUpdateMachineResponse,
  'machinePatch' | 'infrastructureMachinePatch' | 'bootstrapConfigPatch'
>;
/** The fields of a CanUpdateMachineSet response, without its envelope. */
type MachineSetPatches = Pick<
  CanUpdateMachineSetResponse,
  'machineSetPatch' | 'infrastructureMachineTemplatePatch' | 'bootstrapConfigTemplatePatch'
>;

/** The patch that sets these fields of an object to their desired values; undefined if nothing would change. */
function patchOf(current: unknown, desired: unknown, paths: readonly string[]): Patch | undefined {
  if (!isJsonObject(current) || !isJsonObject(desired)) {
    return undefined;
  }
  const changed: JsonObject = copyOf(current);
  for (const path of paths) {
    setField(changed, path, getField(desired, path));
  }
  const patch = jsonPatchOf(current, changed);
  return patch.length === 0 ? undefined : { patchType: 'JSONPatch', patch: encodedPatch(patch) };
}

function patchesOf(current: object, desired: object, fields: ChangeableFields<string>): Record<string, Patch> {
  const patches: Record<string, Patch> = {};
  for (const [object, paths] of Object.entries(fields)) {
    const patch = patchOf(
      (current as Record<string, unknown>)[object],
      (desired as Record<string, unknown>)[object],
      paths ?? [],
    );
    if (patch !== undefined) {
      patches[`${object}Patch`] = patch;
    }
  }
  return patches;
}

/**
 * The patches for `answer.done(…)` of CanUpdateMachine: they set the fields that the extension can change to their
 * desired values. Cluster API decides whether that covers all differences; if not, it replaces the machine.
 */
export function machinePatches(
  { current, desired }: CanUpdateMachineRequest,
  fields: ChangeableFields<'machine' | 'infrastructureMachine' | 'bootstrapConfig'>,
): MachinePatches {
  return patchesOf(current, desired, fields);
}

/**
 * The patches for `answer.done(…)` of CanUpdateMachineSet, computed as by `machinePatches`. Only `spec.template.spec`
 * counts.
 */
export function machineSetPatches(
  { current, desired }: CanUpdateMachineSetRequest,
  fields: ChangeableFields<'machineSet' | 'infrastructureMachineTemplate' | 'bootstrapConfigTemplate'>,
): MachineSetPatches {
  return patchesOf(current, desired, fields);
}
