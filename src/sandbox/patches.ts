import { applyPatch, type Operation } from 'rfc6902';
import { failure, isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { ApiError, badRequest } from './errors.ts';
import { copyOf, setKey } from './schema.ts';

/**
 * Applies a JSON Patch (RFC 6902) to a copy.
 *
 * @throws {ApiError} 400 for what is no patch, 422 for one that does not apply.
 */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  const isPatch =
    Array.isArray(patch) &&
    patch.every((step) => isJsonObject(step) && typeof step.op === 'string' && typeof step.path === 'string');
  if (!isPatch) {
    throw badRequest('error decoding patch: a JSON patch is an array of operations, each with op and path');
  }
  const copy = copyOf(object);
  const problem = applyPatch(copy, patch as unknown as Operation[]).find((result) => result !== null);
  if (problem !== undefined) {
    throw new ApiError(
      failure(422, 'Invalid', `the server rejected our request due to an error in our request: ${problem.message}`, {}),
    );
  }
  return copy;
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
      setKey(merged, key, applyMergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
    }
  }
  return merged;
}
