import {
  isJsonObject,
  isSame,
  itemsAt,
  type Json,
  type JsonObject,
  jsonPatchOf,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import {
  applyPatch,
  BadPatch,
  type EncodedPatch,
  fieldsSetBy,
  type HookDefinition,
  revertIgnored,
  type TemplatePlace,
} from '../../runtimehooks/index.ts';

/** Maximum number of patches in one answer that are examined. */
const maxPatches = 100;
/** Largest object that patches may produce, in characters of JSON: the API server accepts 3 MiB. */
const maxObjectLength = 3 * 1024 * 1024;

/** What can be wrong with a patch. `idle`: it changes nothing; `ignored`: Cluster API ignores a change. */
export type PatchProblem = 'unknown item' | 'unreadable' | 'inapplicable' | 'idle' | 'ignored';

/** The patches of a response. */
interface PatchReview {
  problems: readonly { kind: PatchProblem; message: string }[];
  /** Number of patches. */
  count: number;
  /** The patched objects by the place where they are used, since uids are different each time. */
  results: JsonObject;
}

/** An object that patches may change, and what Cluster API takes of the result. */
interface Target {
  object: JsonObject;
  /** Reverts what Cluster API ignores; returns the first such field. */
  takeOver(before: JsonObject, after: JsonObject): string | undefined;
}

/** Reviews patches one after the other, as Cluster API applies them. */
class Review implements PatchReview {
  readonly problems: { kind: PatchProblem; message: string }[] = [];
  count = 0;
  readonly #targets = new Map<string, Target>();

  add(place: string, target: Target): void {
    this.#targets.set(place, target);
  }

  get results(): JsonObject {
    return Object.fromEntries([...this.#targets].map(([place, { object }]) => [place, object]));
  }

  report(kind: PatchProblem, message: string): void {
    this.problems.push({ kind, message });
  }

  /** Applies one patch to the object at a place. `where` names it in messages. */
  apply(place: string, where: string, patch: EncodedPatch): void {
    const target = this.#targets.get(place);
    if (target === undefined) {
      return;
    }
    const { patchType } = patch;
    if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
      const shown = JSON.stringify(quotable(String(patchType ?? ''), 40));
      this.report('unreadable', `${where}: patchType ${shown} is not JSONPatch or JSONMergePatch`);
      return;
    }
    if (typeof patch.patch !== 'string' || patch.patch === '') {
      this.report('unreadable', `${where}: there is a patchType, but no patch`);
      return;
    }
    const before = target.object;
    let after: JsonObject;
    try {
      after = applyPatch(before, patch);
    } catch (error) {
      if (!(error instanceof BadPatch)) {
        throw error;
      }
      this.report(error.isUnreadable ? 'unreadable' : 'inapplicable', `${where}: ${quotable(error.message, 300)}`);
      return;
    }
    if (after.kind !== before.kind || after.apiVersion !== before.apiVersion) {
      this.report('inapplicable', `${where}: the object has another kind or apiVersion afterwards`);
      return;
    }
    if (JSON.stringify(after).length > maxObjectLength) {
      this.report('inapplicable', `${where}: the object has more than 3 MiB afterwards`);
      return;
    }
    if (isSame(before, after)) {
      this.report('idle', `${where} changes nothing`);
    }
    const ignored = target.takeOver(before, after);
    if (ignored !== undefined) {
      this.report('ignored', `${where} changes ${quotable(ignored, 200)}`);
    }
    target.object = after;
  }
}

/** Reviews the patches of a GeneratePatches response. */
function reviewTemplatePatches(request: JsonObject, response: JsonObject): Review {
  const review = new Review();
  const places = new Map<string, string>();
  for (const item of itemsAt(request, 'items')) {
    const object = objectAt(item, 'object');
    const holder = objectAt(item, 'holderReference');
    const builtin = itemsAt(item, 'variables').find((variable) => textAt(variable, 'name') === 'builtin');
    const place: TemplatePlace = { holder, sets: fieldsSetBy(objectAt(builtin, 'value')) };
    const key = JSON.stringify([holder, object.kind ?? null]);
    places.set(textAt(item, 'uid'), key);
    review.add(key, {
      object,
      takeOver(before, after) {
        const [path] = revertIgnored(before, after, place);
        return path && `/${path.join('/')}`;
      },
    });
  }
  const patches = itemsAt(response, 'items');
  review.count = patches.length;
  for (const [index, patch] of patches.slice(0, maxPatches).entries()) {
    const { uid, ...encoded } = objectAt(patch);
    const place = places.get(String(uid));
    if (place === undefined) {
      const shown = JSON.stringify(quotable(String(uid ?? ''), 60));
      review.report('unknown item', `items[${index}]: uid ${shown} is not in the request`);
    } else {
      review.apply(place, `items[${index}]`, encoded);
    }
  }
  return review;
}

/** Reviews the patches of a CanUpdateMachine or CanUpdateMachineSet response. */
function reviewMachinePatches(request: JsonObject, response: JsonObject): Review {
  const review = new Review();
  for (const [name, object] of Object.entries(objectAt(request, 'current'))) {
    const patch = objectAt(response, `${name}Patch`);
    if (!isJsonObject(object) || (!patch.patch && !patch.patchType)) {
      continue;
    }
    const isTemplate = name === 'machineSet' || name.endsWith('Template');
    const changeable = isTemplate ? '/spec/template/spec' : '/spec';
    review.add(name, {
      object,
      takeOver: (before, after) =>
        jsonPatchOf(before, after).find(({ path }) => path !== changeable && !path.startsWith(`${changeable}/`))?.path,
    });
    review.count++;
    review.apply(name, `${name}Patch`, patch);
  }
  return review;
}

/** The patches of a response; undefined for a hook whose responses contain none. */
export function reviewPatches(
  { name }: HookDefinition,
  request: JsonObject,
  response: JsonObject,
): PatchReview | undefined {
  switch (name) {
    case 'GeneratePatches':
      return reviewTemplatePatches(request, response);
    case 'CanUpdateMachine':
    case 'CanUpdateMachineSet':
      return reviewMachinePatches(request, response);
    default:
      return undefined;
  }
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
