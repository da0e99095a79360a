import { failure, isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';
import { badRequest, StatusError, tooLarge } from '../resources/index.ts';
import { copyOf } from '../schema/index.ts';
import { applyOperations, type Operation, PatchError } from './json-patch.ts';

/** Most operations of a JSON patch (apiserver, maxJSONPatchOperations). */
const maxOperations = 10_000;

function isPointer(value: Json | undefined): boolean {
  return typeof value === 'string' && (value === '' || value.startsWith('/'));
}

/** Whether a value has the form of an operation of a JSON patch. */
export function isOperation(value: Json): boolean {
  return (
    isJsonObject(value) &&
    typeof value.op === 'string' &&
    isPointer(value.path) &&
    (isPointer(value.from) || (value.op !== 'move' && value.op !== 'copy'))
  );
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy.
 *
 * @throws {StatusError} 400 for what is not a patch, 413 for too many operations, 422 for one that does not apply.
 */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isOperation)) {
    throw badRequest(
      'error decoding patch: a JSON patch is an array of operations, each with op and path (a JSON pointer), move and copy with from',
    );
  }
  if (patch.length > maxOperations) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`);
  }
  try {
    return applyOperations(object, patch as unknown as Operation[]) as JsonObject;
  } catch (error) {
    if (!(error instanceof PatchError)) {
      throw error;
    }
    throw new StatusError(
      failure(422, 'Invalid', `the server rejected our request due to an error in our request: ${error.message}`, {}),
    );
  }
}

/** Applies a JSON Merge Patch (RFC 7396) to a copy. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) {
    return copyOf(patch);
  }
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete merged[key];
    } else {
      setOwn(merged, key, applyMergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
    }
  }
  return merged;
}
