import { type JsonObject, jsonPatchOf, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { patchProblems, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import {
  applyPatch,
  BadPatch,
  type EncodedPatch,
  type HookDefinition,
  isEmptyPatch,
  placeOfItem,
  revertIgnored,
} from '../../runtimehooks/index.ts';

export interface Answer {
  hook: HookDefinition;
  request: JsonObject;
  response: JsonObject;
  schemaOf: SchemaOf | undefined;
  error?: undefined;
}

const maxPatches = 100;
/** Largest object that patches may produce, in characters of JSON: the API server accepts 3 MiB. */
const maxObjectLength = 3 * 1024 * 1024;

/**
 * A problem with a patch. `inapplicable`: it cannot be read or applied; `invalid`: an API server would refuse the
 * object or drop fields of it; `ignored`: Cluster API ignores a change.
 */
export type PatchProblem = 'inapplicable' | 'invalid' | 'ignored';

export interface PatchReview {
  problems: readonly { kind: PatchProblem; message: string }[];
  count: number;
  /** The patched objects by the place where they are used, since uids are different each time. */
  results: JsonObject;
}

interface Target {
  place: string;
  object: JsonObject;
  /** Reverts what Cluster API ignores in the patched object; returns the first such field. */
  revert(before: JsonObject, after: JsonObject): string | undefined;
}

/** The templates of a GeneratePatches request, by uid. */
function templatesIn(request: JsonObject): Map<string, Target> {
  const targets = objectsAt(request, 'items').map((item): [string, Target] => {
    const object = objectAt(item, 'object');
    const revert: Target['revert'] = (before, after) => {
      const [path] = revertIgnored(before, after, placeOfItem(item));
      return path && `/${path.join('/')}`;
    };
    const place = JSON.stringify([objectAt(item, 'holderReference'), object.kind ?? null]);
    return [textAt(item, 'uid'), { place, object, revert }];
  });
  return new Map(targets);
}

/** The objects of a CanUpdateMachine or CanUpdateMachineSet request, by their names in it. */
function machineObjectsIn(request: JsonObject): Map<string, Target> {
  const targets = Object.entries(objectAt(request, 'current')).map(([name, object]): [string, Target] => {
    const changeable = name === 'machineSet' || name.endsWith('Template') ? '/spec/template/spec' : '/spec';
    const revert: Target['revert'] = (before, after) =>
      jsonPatchOf(before, after).find(({ path }) => path !== changeable && !path.startsWith(`${changeable}/`))?.path;
    return [name, { place: name, object: objectAt(object), revert }];
  });
  return new Map(targets);
}

/** Reviews the patches of an answer one after the other, as Cluster API applies them; undefined for a hook without patches. */
export function reviewPatches({ hook, request, response, schemaOf }: Answer): PatchReview | undefined {
  const isOfTemplates = hook.name === 'GeneratePatches';
  if (!isOfTemplates && !hook.name.startsWith('CanUpdate')) {
    return undefined;
  }
  const targets = isOfTemplates ? templatesIn(request) : machineObjectsIn(request);
  const patches = isOfTemplates
    ? objectsAt(response, 'items').map((patch, index) => ({
        id: textAt(patch, 'uid'),
        where: `items[${index}]`,
        patch,
      }))
    : [...targets.keys()]
        .map((id) => ({ id, where: `${id}Patch`, patch: objectAt(response, `${id}Patch`) as EncodedPatch }))
        .filter(({ patch }) => patch.patch || patch.patchType);
  const problems: { kind: PatchProblem; message: string }[] = [];
  for (const { id, where, patch } of patches.slice(0, maxPatches)) {
    const report = (kind: PatchProblem, message: string) => problems.push({ kind, message: `${where}${message}` });
    const target = targets.get(id);
    if (target === undefined) {
      report('inapplicable', `: uid ${JSON.stringify(quotable(id, 60))} is not in the request`);
      continue;
    }
    if (patch.patchType !== 'JSONPatch' && patch.patchType !== 'JSONMergePatch') {
      const shown = JSON.stringify(quotable(String(patch.patchType ?? ''), 40));
      report('inapplicable', `: patchType ${shown} is not JSONPatch or JSONMergePatch`);
      continue;
    }
    if (isEmptyPatch(patch)) {
      continue;
    }
    if (!patch.patch) {
      report('inapplicable', ': an empty patch is only taken as JSONMergePatch');
      continue;
    }
    const before = target.object;
    let after: JsonObject;
    try {
      after = applyPatch(before, patch);
    } catch (error) {
      if (!(error instanceof BadPatch)) {
        throw error;
      }
      report('inapplicable', `: ${quotable(error.message, 300)}`);
      continue;
    }
    if (after.kind !== before.kind || after.apiVersion !== before.apiVersion) {
      report('inapplicable', ': the object has another kind or apiVersion afterwards');
    } else if (JSON.stringify(after).length > maxObjectLength) {
      report('inapplicable', ': the object has more than 3 MiB afterwards');
    } else {
      const ignored = target.revert(before, after);
      if (ignored !== undefined) {
        report('ignored', ` changes ${quotable(ignored, 200)}`);
      }
      for (const problem of schemaOf === undefined ? [] : patchProblems(before, after, schemaOf)) {
        report('invalid', `: ${textAt(after, 'kind')} ${textAt(after, 'metadata', 'name')}: ${quotable(problem, 300)}`);
      }
      target.object = after;
    }
  }
  const results = Object.fromEntries([...targets.values()].map(({ place, object }) => [place, object]));
  return { problems, count: patches.length, results };
}
