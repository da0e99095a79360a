import { isJsonObject, isTooDeep, type Json, type JsonObject, maxJsonDepth, objectAt, setOwn } from './json.ts';
import { copyOf } from './json-copy.ts';
import { isSame } from './json-diff.ts';
import { pointerKeys } from './json-patch.ts';

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value?: Json }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string };

/** Why operations cannot be applied. The message is for their author. */
export class PatchError extends Error {}

/** Maximum number of bytes of JSON that the copies of one patch may add (apiserver, JSONPatchMaxCopyBytes). */
const maxCopiedBytes = 3 * 1024 * 1024;
/**
 * Maximum number of list items that one patch may shift, by adding and removing in front of them: this takes a quarter of a
 * second at most.
 */
const maxShifted = 200_000_000;

/** How much of an operation a message shows, in characters. */
const maxShownOperation = 200;

/** Maximum number of operations of one patch (apiserver, maxJSONPatchOperations). */
export const maxPatchOperations = 10_000;

interface Progress {
  root: Json;
  copied: number;
  shifted: number;
}

/**
 * The list index that a key denotes, or undefined. As in the library of the API server and of Cluster API
 * (evanphx/json-patch), negative ones count from the end, and leading zeros are fine.
 *
 * @param size number of places: one more than items if the key is where an item is added.
 */
function indexOf(key: string, size: number): number | undefined {
  const index = /^[+-]?\d{1,10}$/.test(key) ? Number(key) : Number.NaN;
  const place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : undefined;
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = indexOf(key, value.length);
    return index === undefined ? undefined : value[index];
  }
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function valueAt(root: Json, pointer: string, op: string): Json {
  let value: Json | undefined = root;
  for (const key of pointerKeys(pointer)) {
    value = child(value, key);
  }
  if (value === undefined) {
    throw new PatchError(`${op} operation does not apply: doc is missing value: ${JSON.stringify(pointer)}`);
  }
  return value;
}

/** The list or object that contains what a pointer refers to. */
function holderOf(root: Json, pointer: string, op: string): { holder: Json[] | Record<string, Json>; key: string } {
  const keys = pointerKeys(pointer);
  const key = keys.pop() as string;
  let holder: Json | undefined = root;
  for (const name of keys) {
    holder = child(holder, name);
  }
  if (!Array.isArray(holder) && !isJsonObject(holder)) {
    throw new PatchError(`${op} operation does not apply: doc is missing path: ${JSON.stringify(pointer)}`);
  }
  return { holder, key };
}

function shift(progress: Progress, items: number): void {
  progress.shifted += items;
  if (progress.shifted > maxShifted) {
    throw new PatchError(`the patch moves more than ${maxShifted} items of lists; replace a list as a whole`);
  }
}

function add(progress: Progress, pointer: string, value: Json, op: string): void {
  if (pointer === '') {
    progress.root = value;
    return;
  }
  const { holder, key } = holderOf(progress.root, pointer, op);
  if (!Array.isArray(holder)) {
    setOwn(holder, key, value);
    return;
  }
  const index = key === '-' ? holder.length : indexOf(key, holder.length + 1);
  if (index === undefined) {
    throw new PatchError(`${op} operation does not apply: ${JSON.stringify(pointer)}: unable to access invalid index`);
  }
  shift(progress, holder.length - index);
  holder.splice(index, 0, value);
}

function remove(progress: Progress, pointer: string, op: string): Json {
  const value = valueAt(progress.root, pointer, op);
  if (pointer === '') {
    throw new PatchError(`${op} operation does not apply: the whole document cannot be removed`);
  }
  const { holder, key } = holderOf(progress.root, pointer, op);
  if (Array.isArray(holder)) {
    const index = indexOf(key, holder.length) ?? 0;
    shift(progress, holder.length - index);
    holder.splice(index, 1);
  } else {
    delete holder[key];
  }
  return value;
}

function replace(progress: Progress, pointer: string, value: Json): void {
  valueAt(progress.root, pointer, 'replace');
  if (pointer === '') {
    progress.root = value;
    return;
  }
  const { holder, key } = holderOf(progress.root, pointer, 'replace');
  if (Array.isArray(holder)) {
    holder[indexOf(key, holder.length) ?? 0] = value;
  } else {
    setOwn(holder, key, value);
  }
}

function copy(progress: Progress, from: string, pointer: string): void {
  const value = valueAt(progress.root, from, 'copy');
  progress.copied += Buffer.byteLength(JSON.stringify(value));
  if (progress.copied > maxCopiedBytes) {
    throw new PatchError(
      `Unable to complete the copy, the accumulated size increase of copy is ${progress.copied}, exceeding the limit ${maxCopiedBytes}`,
    );
  }
  add(progress, pointer, copyOf(value), 'copy');
}

function test(progress: Progress, pointer: string, value: Json): void {
  if (pointer !== '') {
    const { holder, key } = holderOf(progress.root, pointer, 'test');
    // A field that is missing equals null.
    if (value === null && !Array.isArray(holder) && !Object.hasOwn(holder, key)) {
      return;
    }
  }
  if (!isSame(valueAt(progress.root, pointer, 'test'), value)) {
    throw new PatchError(`testing value ${pointer} failed`);
  }
}

function apply(progress: Progress, operation: PatchOperation): void {
  switch (operation.op) {
    case 'add':
      add(progress, operation.path, copyOf(operation.value ?? null), 'add');
      break;
    case 'replace':
      replace(progress, operation.path, copyOf(operation.value ?? null));
      break;
    case 'remove':
      remove(progress, operation.path, 'remove');
      break;
    case 'move':
      if (operation.path.startsWith(`${operation.from}/`)) {
        throw new PatchError('move operation does not apply: a value cannot be moved into itself');
      }
      add(progress, operation.path, remove(progress, operation.from, 'move'), 'move');
      break;
    case 'copy':
      copy(progress, operation.from, operation.path);
      break;
    case 'test':
      test(progress, operation.path, operation.value ?? null);
      break;
    default:
      throw new PatchError(`Unexpected kind: ${String((operation as { op: unknown }).op)}`);
  }
}

/**
 * Applies operations to a copy, one after the other, with the API server's limits.
 *
 * @throws {PatchError} when one cannot be applied, or they would do more work than allowed.
 */
export function applyOperations(value: Json, operations: readonly PatchOperation[]): Json {
  const progress: Progress = { root: copyOf(value), copied: 0, shifted: 0 };
  let nestsTooDeeply: boolean;
  try {
    for (const operation of operations) {
      apply(progress, operation);
    }
    nestsTooDeeply = isTooDeep(progress.root);
  } catch (error) {
    // Moves nest values in each other thousands of levels deep, and the next operation exceeds the stack.
    if (!(error instanceof RangeError)) {
      throw error;
    }
    nestsTooDeeply = true;
  }
  if (nestsTooDeeply) {
    throw new PatchError(`the patch makes the document nest deeper than ${maxJsonDepth} levels`);
  }
  return progress.root;
}

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

const supported = new Set<unknown>(['add', 'copy', 'move', 'remove', 'replace', 'test']);

/**
 * Why Cluster API does not decode a patch whose operations have the right form, or undefined: unlike the API server, its
 * version of the library (v5) wants a value to add, which `JSON.stringify` leaves out if it is undefined.
 */
export function undecodable(operations: readonly Json[]): string | undefined {
  for (const operation of operations) {
    const { op, value } = objectAt(operation);
    const problem = !supported.has(op)
      ? 'unsupported operation'
      : (op === 'add' || op === 'replace') && value === undefined
        ? "failed to decode 'value': operation, missing value field: missing value"
        : undefined;
    if (problem !== undefined) {
      return `invalid operation ${JSON.stringify(operation).slice(0, maxShownOperation)}: ${problem}`;
    }
  }
  return undefined;
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
