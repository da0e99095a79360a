import { isJsonObject, type Json, type JsonObject, setOwn } from './json.ts';
import { copyOf } from './json-copy.ts';
import { isSame } from './json-diff.ts';

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
 * Maximum number of list items that one patch may shift, by adding and removing in front of them: this takes some
 * seconds.
 */
const maxShifted = 1_000_000_000;

/** Maximum number of operations of one patch (apiserver, maxJSONPatchOperations). */
export const maxPatchOperations = 10_000;

interface Progress {
  root: Json;
  copied: number;
  shifted: number;
}

/** The keys in a JSON pointer (RFC 6901). */
function keysOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The list index that a key denotes, or undefined. */
function indexOf(list: readonly Json[], key: string): number | undefined {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < list.length ? Number(key) : undefined;
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = indexOf(value, key);
    return index === undefined ? undefined : value[index];
  }
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function valueAt(root: Json, pointer: string, op: string): Json {
  let value: Json | undefined = root;
  for (const key of keysOf(pointer)) {
    value = child(value, key);
  }
  if (value === undefined) {
    throw new PatchError(`${op} operation does not apply: doc is missing value: ${JSON.stringify(pointer)}`);
  }
  return value;
}

/** The list or object that contains what a pointer refers to. */
function holderOf(root: Json, pointer: string, op: string): { holder: Json[] | Record<string, Json>; key: string } {
  const keys = keysOf(pointer);
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
  const index = key === '-' || key === String(holder.length) ? holder.length : indexOf(holder, key);
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
    shift(progress, holder.length - Number(key));
    holder.splice(Number(key), 1);
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
    holder[Number(key)] = value;
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
      if (!isSame(valueAt(progress.root, operation.path, 'test'), operation.value ?? null)) {
        throw new PatchError(`testing value ${operation.path} failed`);
      }
      break;
    default:
      throw new PatchError(`Unexpected kind: ${String((operation as { op: unknown }).op)}`);
  }
}

/**
 * Applies operations to a copy, one after the other, with the API server's limits.
 * @throws {PatchError} when one cannot be applied, or they would do more work than allowed.
 */
export function applyOperations(value: Json, operations: readonly PatchOperation[]): Json {
  const progress: Progress = { root: copyOf(value), copied: 0, shifted: 0 };
  for (const operation of operations) {
    apply(progress, operation);
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
