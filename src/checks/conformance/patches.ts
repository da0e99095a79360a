import {
  applyMergePatch,
  applyOperations,
  fieldAt,
  isJsonObject,
  isOperation,
  isSame,
  itemsAt,
  type Json,
  JsonError,
  type JsonObject,
  jsonPatchOf,
  maxPatchOperations,
  objectAt,
  PatchError,
  type PatchOperation,
  parseJson,
  undecodable,
} from '../../kubernetes/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';

/** Maximum number of patches in one answer that are examined. */
const maxPatches = 100;
/** Largest object that patches may produce, in characters of JSON: the API server accepts 3 MiB. */
const maxObjectLength = 3 * 1024 * 1024;

/** The problems with the patches of a response, by the check that reports them. Callers limit how many are reported. */
export interface PatchReview {
  /** Patches of items that are not in the request. */
  unknown: string[];
  /** Patches that have an unknown type, are not base64, or do not decode to a patch. */
  unreadable: string[];
  /** Patches that cannot be applied. */
  inapplicable: string[];
  /** Patches that change nothing. */
  idle: string[];
  /** Changes that Cluster API ignores. */
  ignored: string[];
  /** Number of patches. */
  count: number;
}

/** A patch as messages contain it. */
interface Encoded {
  patchType?: Json | undefined;
  patch?: Json | undefined;
}

/** The decoded patch, or what is wrong with it. */
function decoded({ patchType, patch }: Encoded): { apply: (object: JsonObject) => Json } | { problem: string } {
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    return {
      problem: `patchType ${JSON.stringify(quotable(String(patchType ?? ''), 40))} is not JSONPatch or JSONMergePatch`,
    };
  }
  if (typeof patch !== 'string' || patch === '') {
    return { problem: 'there is a patchType, but no patch' };
  }
  let value: Json;
  try {
    value = parseJson(Buffer.from(patch, 'base64'));
  } catch (error) {
    if (error instanceof JsonError) {
      return { problem: `the base64 text is not JSON: ${error.message}` };
    }
    throw error;
  }
  if (patchType === 'JSONMergePatch') {
    return isJsonObject(value)
      ? { apply: (object) => applyMergePatch(object, value) }
      : { problem: 'a merge patch must be a JSON object' };
  }
  if (!Array.isArray(value) || !value.every(isOperation)) {
    return { problem: 'a JSON patch must be a list of operations, each with op and path (a JSON pointer)' };
  }
  if (value.length > maxPatchOperations) {
    return {
      problem: `it has ${value.length} operations, and at most ${maxPatchOperations} are applied: replace whole objects and lists, or send a merge patch`,
    };
  }
  const problem = undecodable(value);
  if (problem !== undefined) {
    return { problem: quotable(problem, 300) };
  }
  return { apply: (object) => applyOperations(object, value as unknown as PatchOperation[]) };
}

/** Fields of a control plane's template that Cluster API sets itself, so that it undoes patches to them. */
const controlPlaneFields = [
  '/spec/template/spec/version',
  '/spec/template/spec/replicas',
  '/spec/template/spec/machineTemplate/infrastructureRef',
  '/spec/template/spec/machineTemplate/spec/infrastructureRef',
];
const takenOfTemplates = ['/spec', '/metadata/labels', '/metadata/annotations'];

/** Fields that an object must still have after its patches if it had them before: Cluster API fails without them. */
const keptFields = [['spec'], ['spec', 'template', 'spec']];

const isBelow = (path: string, fields: readonly string[]) =>
  fields.some((field) => path === field || path.startsWith(`${field}/`));

/** The changed fields that Cluster API ignores. */
function ignoredChanges(
  before: JsonObject,
  after: Json,
  taken: readonly string[],
  undone: readonly string[],
): string[] {
  return jsonPatchOf(before, after)
    .map(({ path }) => path)
    .filter((path) => !isBelow(path, taken) || isBelow(path, undone));
}

const none = (): PatchReview => ({ unknown: [], unreadable: [], inapplicable: [], idle: [], ignored: [], count: 0 });

/** Applies one patch, records its problems, and returns the resulting object. */
function applied(
  review: PatchReview,
  where: string,
  encoded: Encoded,
  object: JsonObject,
  taken: readonly string[],
  undone: readonly string[],
): JsonObject {
  const patch = decoded(encoded);
  if ('problem' in patch) {
    review.unreadable.push(`${where}: ${patch.problem}`);
    return object;
  }
  let after: Json;
  try {
    after = patch.apply(object);
  } catch (error) {
    if (!(error instanceof PatchError)) {
      throw error;
    }
    review.inapplicable.push(`${where}: ${quotable(error.message, 200)}`);
    return object;
  }
  if (!isJsonObject(after) || after.kind !== object.kind || after.apiVersion !== object.apiVersion) {
    review.inapplicable.push(`${where}: the object has another kind or apiVersion afterwards, or is not an object`);
    return object;
  }
  const lost = keptFields.find(
    (path) => fieldAt(after, ...path) === undefined && fieldAt(object, ...path) !== undefined,
  );
  if (lost !== undefined) {
    review.inapplicable.push(`${where}: the object has no ${lost.join('.')} afterwards`);
    return object;
  }
  if (JSON.stringify(after).length > maxObjectLength) {
    review.inapplicable.push(`${where}: the object has more than 3 MiB afterwards`);
    return object;
  }
  if (isSame(object, after)) {
    review.idle.push(`${where} changes nothing`);
  }
  const [ignored] = ignoredChanges(object, after, taken, undone);
  if (ignored !== undefined) {
    review.ignored.push(`${where} changes ${quotable(ignored, 200)}`);
  }
  return after;
}

/** Reviews the patches of a GeneratePatches response, applied in order, as Cluster API does. */
export function reviewTemplatePatches(request: JsonObject, response: JsonObject): PatchReview {
  const review = none();
  const current = new Map<string, { object: JsonObject; isControlPlane: boolean; name: string }>();
  for (const item of itemsAt(request, 'items')) {
    if (isJsonObject(item) && isJsonObject(item.object)) {
      const holder = objectAt(item, 'holderReference');
      current.set(String(item.uid), {
        object: item.object,
        isControlPlane: holder.fieldPath === 'spec.controlPlaneRef',
        name: `the ${quotable(String(item.object.kind), 60)}`,
      });
    }
  }
  const patches = itemsAt(response, 'items');
  review.count = patches.length;
  for (const [index, patch] of patches.slice(0, maxPatches).entries()) {
    const { uid, ...encoded } = objectAt(patch);
    const item = current.get(String(uid));
    if (item === undefined) {
      review.unknown.push(
        `items[${index}]: uid ${JSON.stringify(quotable(String(uid ?? ''), 60))} is not in the request`,
      );
      continue;
    }
    item.object = applied(
      review,
      `items[${index}] for ${item.name}`,
      encoded,
      item.object,
      takenOfTemplates,
      item.isControlPlane ? controlPlaneFields : [],
    );
  }
  return review;
}

/** Reviews the patches of a CanUpdateMachine or CanUpdateMachineSet response. */
export function reviewMachinePatches(request: JsonObject, response: JsonObject): PatchReview {
  const review = none();
  const objects = objectAt(request, 'current');
  for (const [name, object] of Object.entries(objects)) {
    const patch = response[`${name}Patch`];
    if (!isJsonObject(object) || !isJsonObject(patch) || (!patch.patch && !patch.patchType)) {
      continue;
    }
    review.count++;
    const taken =
      name === 'machine' || name === 'infrastructureMachine' || name === 'bootstrapConfig'
        ? '/spec'
        : '/spec/template/spec';
    applied(review, `${name}Patch`, patch as Encoded, object, [taken], []);
  }
  return review;
}

/** The patches of a response as text, by the place of their template, since its uid is different each time. */
export function patchesByPlace(request: JsonObject, response: JsonObject): Map<string, string> {
  const places = new Map<string, string>();
  for (const item of itemsAt(request, 'items')) {
    if (isJsonObject(item)) {
      places.set(
        String(item.uid),
        JSON.stringify([item.holderReference, isJsonObject(item.object) ? item.object.kind : '']),
      );
    }
  }
  const patches = new Map<string, string[]>();
  for (const patch of Array.isArray(response.items) ? response.items.slice(0, maxPatches) : []) {
    const place = isJsonObject(patch) ? places.get(String(patch.uid)) : undefined;
    if (isJsonObject(patch) && place !== undefined) {
      const known = patches.get(place) ?? [];
      known.push(`${String(patch.patchType)} ${String(patch.patch)}`);
      patches.set(place, known);
    }
  }
  return new Map([...patches].map(([place, list]) => [place, list.join('\n')]));
}
