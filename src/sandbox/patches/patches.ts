import {
  applyOperations,
  failure,
  isOperation,
  type Json,
  type JsonObject,
  maxPatchOperations,
  PatchError,
  type PatchOperation,
} from '../../kubernetes/index.ts';
import { badRequest, RequestError, tooLarge } from '../resources/errors.ts';

/**
 * Applies a JSON Patch (RFC 6902) to a copy.
 *
 * @throws {RequestError} 400 for an invalid patch, 413 for too many operations, 422 for a patch that cannot be applied.
 */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isOperation)) {
    throw badRequest(
      'error decoding patch: a JSON patch is an array of operations, each with op and path (a JSON pointer), move and copy with from',
    );
  }
  if (patch.length > maxPatchOperations) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxPatchOperations}, got ${patch.length}`);
  }
  try {
    return applyOperations(object, patch as unknown as PatchOperation[]) as JsonObject;
  } catch (error) {
    if (!(error instanceof PatchError)) {
      throw error;
    }
    throw new RequestError(
      failure(422, 'Invalid', `the server rejected our request due to an error in our request: ${error.message}`, {}),
    );
  }
}
