import {
  applyMergePatch,
  applyOperations,
  copyOf,
  isJsonObject,
  isOperation,
  isTooDeep,
  type Json,
  type JsonObject,
  maxJsonDepth,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
  textAt,
  undecodable,
} from '../../kubernetes/index.ts';

export interface EncodedPatch {
  patchType?: Json | undefined;
  /** Base64 of a JSON patch or a JSON merge patch. */
  patch?: Json | undefined;
}

/** Why a patch cannot be applied, in Cluster API's words (core/reconcilers/topology/cluster/patches/engine.go, v1.14). */
export class BadPatch extends Error {}

/** Longest patch that is decoded, in characters of base64: the limit for a whole answer. */
const maxPatchLength = 20 * 1024 * 1024;

const formats = {
  JSONPatch: 'json patch (RFC6902)',
  JSONMergePatch: 'json merge patch (RFC7386)',
} as const;

const textOf = ({ patch }: EncodedPatch): string =>
  typeof patch === 'string' ? Buffer.from(patch, 'base64').toString('utf8').trim() : '';

/** Whether Cluster API skips a patch: it has no operations, or is an empty merge patch. */
export function isEmptyPatch(item: EncodedPatch): boolean {
  if (typeof item.patch === 'string' && item.patch.length > maxEmptyLength) {
    return false;
  }
  const text = textOf(item);
  return item.patchType === 'JSONPatch'
    ? text === '[]' || text === 'null'
    : item.patchType === 'JSONMergePatch' && (text === '' || text === '{}');
}

/** Longest empty patch that is recognized, in characters of base64: others contain more than white space. */
const maxEmptyLength = 100;

function decoded(item: EncodedPatch, failed: (why: string) => BadPatch, invalid: string): Json {
  if (typeof item.patch === 'string' && item.patch.length > maxPatchLength) {
    throw failed(
      `it has ${item.patch.length} characters of base64, and at most ${maxPatchLength} are decoded here: send only what changes`,
    );
  }
  let value: Json;
  try {
    value = JSON.parse(textOf(item)) as Json;
  } catch {
    throw failed(invalid);
  }
  if (isTooDeep(value)) {
    throw failed(`it nests deeper than ${maxJsonDepth} levels, which is too deep here`);
  }
  return value;
}

function operationsIn(item: EncodedPatch): PatchOperation[] {
  const failed = (why: string) => new BadPatch(`failed to apply patch: error decoding ${formats.JSONPatch}: ${why}`);
  const operations = decoded(item, failed, 'invalid state detected');
  if (!Array.isArray(operations)) {
    throw failed(
      `json: cannot unmarshal ${isJsonObject(operations) ? 'object' : typeof operations} into Go value of type jsonpatch.Patch`,
    );
  }
  if (operations.length > maxPatchOperations) {
    throw failed(
      `it has ${operations.length} operations, and at most ${maxPatchOperations} are applied here: replace whole objects and lists, or send a merge patch`,
    );
  }
  const problem = undecodable(operations);
  if (problem !== undefined) {
    throw failed(problem);
  }
  if (!operations.every(isOperation)) {
    throw failed('it is not a list of operations, each with op and path (a JSON pointer), move and copy with from');
  }
  return operations as unknown as PatchOperation[];
}

/**
 * Applies a patch to a copy of an object. What Cluster API takes over of the result is decided by `revertIgnored`.
 *
 * @param what the object is, in messages: Cluster API's differ for templates and for objects that are updated in place.
 * @throws {BadPatch} when it cannot be applied.
 */
export function applyPatch(
  object: JsonObject,
  item: EncodedPatch,
  what: 'template' | 'object' = 'template',
): JsonObject {
  const { patchType } = item;
  const unconvertible = (why: string) =>
    new BadPatch(
      `failed to apply patch to ${what}: failed to convert patched object to Unstructured: failed to unmarshal object from json: ${why}`,
    );
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    throw unconvertible("couldn't get version/kind; json parse error: unexpected end of JSON input");
  }
  let result: Json;
  if (patchType === 'JSONPatch') {
    try {
      result = applyOperations(object, operationsIn(item));
    } catch (error) {
      throw error instanceof PatchError
        ? new BadPatch(`failed to apply patch: error applying ${formats.JSONPatch}: ${error.message}`)
        : error;
    }
  } else {
    const failed = (why: string) =>
      new BadPatch(`failed to apply patch: error applying ${formats.JSONMergePatch}: ${why}`);
    result = applyMergePatch(copyOf(object), decoded(item, failed, 'Invalid JSON Patch'));
  }
  if (!isJsonObject(result) || textAt(result, 'kind') === '') {
    throw unconvertible(`Object 'Kind' is missing in '${JSON.stringify(result).slice(0, 200)}'`);
  }
  return result;
}
