import {
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  jsonPatchOf,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { patchProblems, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import {
  applyPatch,
  BadPatch,
  type EncodedPatch,
  fieldsSetBy,
  type HookDefinition,
  isEmptyPatch,
  revertIgnored,
} from '../../runtimehooks/index.ts';

const maxPatches = 100;
/** Largest object that patches may produce, in characters of JSON: the API server accepts 3 MiB. */
const maxObjectLength = 3 * 1024 * 1024;

/**
 * A problem with a patch. `inapplicable`: it cannot be read or applied; `invalid`: an API server would refuse the
 * object or drop fields of it; `ignored`: Cluster API ignores a change.
 */
export type PatchProblem = 'inapplicable' | 'invalid' | 'ignored';

interface PatchReview {
  problems: readonly { kind: PatchProblem; message: string }[];
  count: number;
  /** The patched objects by the place where they are used, since uids are different each time. */
  results: JsonObject;
}

interface Target {
  /** Where it is used. */
  place: string;
  object: JsonObject;
  /** Reverts what Cluster API ignores in the patched object; returns the first such field. */
  revert(before: JsonObject, after: JsonObject): string | undefined;
}

/** A patch of the target with this id. `where` names it in messages. */
interface PlacedPatch {
  id: string;
  where: string;
  patch: EncodedPatch;
}

/** Reviews patches one after the other, as Cluster API applies them. */
function reviewOf(
  targets: ReadonlyMap<string, Target>,
  patches: readonly PlacedPatch[],
  schemaOf: SchemaOf,
): PatchReview {
  const problems: { kind: PatchProblem; message: string }[] = [];
  for (const { id, where, patch } of patches.slice(0, maxPatches)) {
    const report = (kind: PatchProblem, message: string) => problems.push({ kind, message: `${where}${message}` });
    const target = targets.get(id);
    const { patchType } = patch;
    if (target === undefined) {
      report('inapplicable', `: uid ${JSON.stringify(quotable(id, 60))} is not in the request`);
      continue;
    }
    if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
      const shown = JSON.stringify(quotable(String(patchType ?? ''), 40));
      report('inapplicable', `: patchType ${shown} is not JSONPatch or JSONMergePatch`);
      continue;
    }
    if (isEmptyPatch(patch)) {
      continue;
    }
    if (typeof patch.patch !== 'string' || patch.patch === '') {
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
      for (const problem of patchProblems(before, after, schemaOf)) {
        report('invalid', `: ${textAt(after, 'kind')} ${textAt(after, 'metadata', 'name')}: ${quotable(problem, 300)}`);
      }
      target.object = after;
    }
  }
  const results = Object.fromEntries([...targets.values()].map(({ place, object }) => [place, object]));
  return { problems, count: patches.length, results };
}

function reviewTemplatePatches(request: JsonObject, response: JsonObject, schemaOf: SchemaOf): PatchReview {
  const targets = new Map<string, Target>();
  for (const item of itemsAt(request, 'items')) {
    const object = objectAt(item, 'object');
    const holder = objectAt(item, 'holderReference');
    const builtin = itemsAt(item, 'variables').find((variable) => textAt(variable, 'name') === 'builtin');
    const sets = fieldsSetBy(objectAt(builtin, 'value'));
    targets.set(textAt(item, 'uid'), {
      place: JSON.stringify([holder, object.kind ?? null]),
      object,
      revert(before, after) {
        const [path] = revertIgnored(before, after, { holder, sets });
        return path && `/${path.join('/')}`;
      },
    });
  }
  const patches = itemsAt(response, 'items').map((item, index) => {
    const { uid, ...patch } = objectAt(item);
    return { id: String(uid ?? ''), where: `items[${index}]`, patch };
  });
  return reviewOf(targets, patches, schemaOf);
}

function reviewMachinePatches(request: JsonObject, response: JsonObject, schemaOf: SchemaOf): PatchReview {
  const targets = new Map<string, Target>();
  const patches: PlacedPatch[] = [];
  for (const [name, object] of Object.entries(objectAt(request, 'current'))) {
    const patch = objectAt(response, `${name}Patch`);
    if (!isJsonObject(object) || (!patch.patch && !patch.patchType)) {
      continue;
    }
    const isTemplate = name === 'machineSet' || name.endsWith('Template');
    const changeable = isTemplate ? '/spec/template/spec' : '/spec';
    targets.set(name, {
      place: name,
      object,
      revert: (before, after) =>
        jsonPatchOf(before, after).find(({ path }) => path !== changeable && !path.startsWith(`${changeable}/`))?.path,
    });
    patches.push({ id: name, where: `${name}Patch`, patch });
  }
  return reviewOf(targets, patches, schemaOf);
}

/** The patches of a response; undefined for a hook whose responses contain none. By default, no schema is known. */
export function reviewPatches(
  { name }: HookDefinition,
  request: JsonObject,
  response: JsonObject,
  schemaOf: SchemaOf = () => undefined,
): PatchReview | undefined {
  if (name === 'GeneratePatches') {
    return reviewTemplatePatches(request, response, schemaOf);
  }
  return name === 'CanUpdateMachine' || name === 'CanUpdateMachineSet'
    ? reviewMachinePatches(request, response, schemaOf)
    : undefined;
}

const isZero = (value: Json) =>
  value === null || value === '' || value === 0 || (Array.isArray(value) && value.length === 0);

/**
 * What Cluster API makes of a response: the fields that it reads, without zero values, and patched objects instead of
 * patches. Two patches with operations in another order have the same effect: those of Go's SDK follow the order of a map.
 */
export function effectOf(hook: HookDefinition, request: JsonObject, response: JsonObject): JsonObject {
  const patched = reviewPatches(hook, request, response);
  const fields = Object.entries(response).filter(
    ([name, value]) =>
      !isZero(value) &&
      name !== 'apiVersion' &&
      name !== 'kind' &&
      (patched === undefined || (name !== 'items' && !name.endsWith('Patch'))),
  );
  const problems = patched?.problems.map(({ message }) => message) ?? [];
  return { ...Object.fromEntries(fields), ...(patched && { patches: { results: patched.results, problems } }) };
}
