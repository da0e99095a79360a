import { applyPatch, type Operation } from 'rfc6902';
import { failure, isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { ApiError, badRequest } from './errors.ts';
import { copyOf, setKey } from './schema.ts';

function isPointer(value: Json | undefined): boolean {
  return typeof value === 'string' && (value === '' || value.startsWith('/'));
}

function isOperation(value: Json): boolean {
  return (
    isJsonObject(value) &&
    typeof value.op === 'string' &&
    isPointer(value.path) &&
    (isPointer(value.from) || (value.op !== 'move' && value.op !== 'copy'))
  );
}

/** Applies operations in place. @returns why one of them does not apply. */
function problemOf(object: JsonObject, operations: Operation[]): string | undefined {
  try {
    return applyPatch(object, operations).find((result) => result !== null)?.message;
  } catch (error) {
    // The library throws where an operation goes into something that holds nothing, such as a string.
    return (error as Error).message;
  }
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy.
 *
 * @throws {ApiError} 400 for what is no patch, 422 for one that does not apply.
 */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isOperation)) {
    throw badRequest(
      'error decoding patch: a JSON patch is an array of operations, each with op and path (a JSON pointer), move and copy with from',
    );
  }
  const copy = copyOf(object);
  const problem = problemOf(copy, patch as unknown as Operation[]);
  if (problem !== undefined) {
    throw new ApiError(
      failure(422, 'Invalid', `the server rejected our request due to an error in our request: ${problem}`, {}),
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
