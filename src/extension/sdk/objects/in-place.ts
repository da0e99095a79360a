import { copyOf, encodedPatch, isJsonObject, type JsonObject, jsonPatchOf } from '../../../kubernetes/index.ts';
import type {
  CanUpdateMachineRequest,
  CanUpdateMachineResponse,
  CanUpdateMachineSetRequest,
  CanUpdateMachineSetResponse,
  Patch,
} from '../../../runtimehooks/index.ts';
import { getField, segmentsOf, setField } from './json-path.ts';

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

/**
 * Refuses paths outside of the part that Cluster API takes from patches and compares: such a change would be dropped, and
 * the machine replaced, as if the extension could not change it.
 *
 * @throws {TypeError}
 */
function checkPaths(object: string, paths: readonly string[], within: string): void {
  const names = within.split('.');
  for (const path of paths) {
    const segments = segmentsOf(path);
    if (names.some((name, index) => segments[index] !== name)) {
      throw new TypeError(
        `${object}: ${JSON.stringify(path)} is not in ${within}, which is all that Cluster API takes: give a path such as ${within}.a`,
      );
    }
  }
}

function patchesOf(
  current: object,
  desired: object,
  fields: ChangeableFields<string>,
  within: string,
): Record<string, Patch> {
  const patches: Record<string, Patch> = {};
  for (const [object, paths] of Object.entries(fields)) {
    checkPaths(object, paths ?? [], within);
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
 *
 * @throws {TypeError} for a path that is not in `spec`, which is all that Cluster API takes.
 */
export function machinePatches(
  { current, desired }: CanUpdateMachineRequest,
  fields: ChangeableFields<'machine' | 'infrastructureMachine' | 'bootstrapConfig'>,
): MachinePatches {
  return patchesOf(current, desired, fields, 'spec');
}

/**
 * The patches for `answer.done(…)` of CanUpdateMachineSet, computed as by `machinePatches`.
 *
 * @throws {TypeError} for a path that is not in `spec.template.spec`, which is all that Cluster API takes.
 */
export function machineSetPatches(
  { current, desired }: CanUpdateMachineSetRequest,
  fields: ChangeableFields<'machineSet' | 'infrastructureMachineTemplate' | 'bootstrapConfigTemplate'>,
): MachineSetPatches {
  return patchesOf(current, desired, fields, 'spec.template.spec');
}
