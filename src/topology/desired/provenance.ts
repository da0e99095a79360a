import {
  fieldAt,
  isSame,
  type Json,
  type JsonObject,
  jsonPatchOf,
  keyOfToken,
  nameOf,
  objectAt,
  perObject,
  textAt,
} from '../../kubernetes/index.ts';
import { fieldsOf, pathInObject } from '../../runtimehooks/index.ts';
import type { ClassPatch } from '../blueprint/blueprint.ts';
import { valueAtPath, variablesRead } from '../patches/inline.ts';
import { clusterBuiltin, type Item, itemsOf, type PatchInput, placeOf } from '../patches/items.ts';
import type { AppliedPatch, Patched } from '../patches/patch-templates.ts';
import { variablesOf } from '../variables/variables.ts';
import type { GroupPart, Provenance } from '../world/groups.ts';
import type { DesiredGroup } from './desired.ts';

type Path = readonly (string | number)[];

export interface Origins {
  input: PatchInput;
  patched: Patched | undefined;
}

const changedPaths = perObject(({ before, after }: AppliedPatch): string[][] =>
  jsonPatchOf(before, after).map(({ path }) => path.split('/').slice(1).map(keyOfToken)),
);

const overlap = (one: Path, other: Path): boolean =>
  one.slice(0, other.length).every((segment, index) => String(segment) === String(other[index]));

const builtinOf = perObject((input: PatchInput): JsonObject => clusterBuiltin(input));

const itemsByPlace = perObject(
  ({ input, patched }: Origins) =>
    new Map((patched?.items ?? itemsOf(input)).map((item) => [placeOf(item.holder), item])),
);

const variablesAt = ({ input }: Origins, item: Item | undefined): JsonObject => {
  const values = [...variablesOf(input.cluster), ...(item?.overrides ?? [])];
  return {
    ...Object.fromEntries(values.map(({ name, value = null }): [string, Json] => [String(name), value])),
    builtin: { ...builtinOf(input), ...item?.builtin },
  };
};

/** Names of templates change when they are rotated, and that is not a cause. */
const isName = (path: string): boolean => /^builtin\.\w+\.(?:bootstrap|infrastructureRef|machineTemplate)\b/.test(path);

const externalText = ({ name, generatePatches }: ClassPatch): string =>
  `patch ${name}, extension ${generatePatches ?? ''}`;

function patchText(step: AppliedPatch, item: Item, before: Origins | undefined, after: Origins): string {
  const { patch } = step;
  const text = `patch ${patch.name}`;
  if (patch.definitions.length === 0) {
    return externalText(patch);
  }
  if (before === undefined) {
    return text;
  }
  const place = placeOf(item.holder);
  const variablesOfItem = (origins: Origins) => variablesAt(origins, itemsByPlace(origins).get(place));
  const [old, now] = [variablesOfItem(before), variablesOfItem(after)];
  const changed = variablesRead(patch).filter(
    (path) => !isName(path) && !isSame(valueAtPath(old, path), valueAtPath(now, path)),
  );
  const texts = changed.map((path) => (path.startsWith('builtin.') ? path : `variable ${path.split(/[.[]/)[0]}`));
  return [text, ...new Set(texts)].join(', ');
}

function lastPatch(origins: Origins, item: Item | undefined, path: Path): AppliedPatch | undefined {
  const here = item && itemsByPlace(origins).get(placeOf(item.holder));
  const steps = (here && origins.patched?.applied.get(here)) ?? [];
  const isAt = (changed: Path) => overlap(changed, path) || overlap(path, changed);
  return steps.findLast((step) => changedPaths(step).some(isAt));
}

const metadataPlace = (path: Path): string[] => {
  const start = path.indexOf('metadata');
  return start === -1 ? [] : path.slice(start + 1, start + 3).map(String);
};

/** Where a field of a MachineDeployment, a MachinePool or a control plane comes from that no patch may set. */
function settingText({ input }: Origins, { group, worker, items }: DesiredGroup, path: Path): string | undefined {
  const { cluster, blueprint } = input;
  const isPlane = worker === undefined;
  const topology = isPlane ? objectAt(cluster, 'spec', 'topology', 'controlPlane') : worker.topology;
  const settings = isPlane ? blueprint.controlPlane.settings : objectAt(worker.class?.settings);
  const ofTopology = isPlane ? 'spec.topology.controlPlane' : `${group} in spec.topology`;
  const ofClass = isPlane ? `ClusterClass ${blueprint.name}` : `class ${textAt(settings, 'class')}`;
  const field = path.join('.');
  if (/^spec\.(?:template\.spec\.)?version$/.test(field)) {
    return 'version';
  }
  const place = metadataPlace(path);
  if (place.length > 0) {
    return fieldAt(topology, 'metadata', ...place) !== undefined
      ? `metadata of ${ofTopology}`
      : fieldAt(settings, 'metadata', ...place) !== undefined
        ? `class metadata (${ofClass})`
        : place[1]?.startsWith('cluster.x-k8s.io/cloned-from') === true
          ? 'template'
          : undefined;
  }
  if (field.startsWith('spec.rollout.after')) {
    return `rollout.after of ${ofTopology}`;
  }
  const kind = worker?.kind ?? 'ControlPlane';
  const isAt = (place: Path) => overlap(path, place) || overlap(place, path);
  const fields = fieldsOf(kind).filter((one) => [true, false].some((isOld) => isAt(pathInObject(kind, one, isOld))));
  const isIn = (holder: JsonObject) => fields.some((one) => fieldAt(holder, ...one.path.split('.')) !== undefined);
  if (isIn(topology)) {
    return ofTopology;
  }
  return isIn(settings) || items.object === undefined ? ofClass : undefined;
}

const templateText = (item: Item): string => `${textAt(item.template, 'kind')} ${nameOf(item.template)}`;

/** Where values of a group of Machines come from; `before`: the group in the first state, if it is known. */
export function provenanceOf(
  before: { origins: Origins; group: DesiredGroup | undefined } | undefined,
  after: { origins: Origins; group: DesiredGroup },
): Provenance {
  return (part: GroupPart, path) => {
    const { group } = after;
    const item = group.items[part];
    const old = item && before && itemsByPlace(before.origins).get(placeOf(item.holder));
    if (part === 'object') {
      const text = settingText(after.origins, group, path);
      if (item === undefined || text !== undefined) {
        return text ?? (before?.group && settingText(before.origins, before.group, path));
      }
    }
    if (item === undefined) {
      return undefined;
    }
    const inTemplate = item.isObject ? ['spec', 'template', ...path] : path;
    const step = lastPatch(after.origins, item, inTemplate);
    const shown = step ?? (before && lastPatch(before.origins, old, inTemplate));
    if (shown !== undefined) {
      return patchText(shown, item, before?.origins, after.origins);
    }
    const external = after.origins.input.blueprint.patches.filter(({ definitions }) => definitions.length === 0);
    if (fieldAt(item.template, ...inTemplate) === undefined && before?.origins.patched === undefined) {
      // The patches of an extension's old release are not known in detail.
      return external.length === 0 ? undefined : external.map(externalText).join(', ');
    }
    const [name, oldName] = [templateText(item), old === undefined ? undefined : templateText(old)];
    return oldName === undefined || oldName === name ? `template ${name}` : `template ${name} instead of ${oldName}`;
  };
}
