import {
  copyOf,
  isJsonObject,
  isTooDeep,
  type Json,
  type JsonObject,
  maxJsonDepth,
  objectAt,
  own,
  setOwn,
} from './json.ts';
import { isSame, pointerKeys } from './json-patch.ts';

export type PatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value?: Json }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string };

/** Why operations cannot be applied, in the words of evanphx/json-patch: Cluster API writes them into conditions. */
export class PatchError extends Error {}

/** Maximum number of bytes of JSON that the copies of one patch may add (apiserver, JSONPatchMaxCopyBytes). */
const maxCopiedBytes = 3 * 1024 * 1024;
/** Maximum number of list items that one patch may shift by adding and removing in front of them: a quarter of a second. */
const maxShifted = 200_000_000;

/** Maximum number of operations of one patch (apiserver, maxJSONPatchOperations). */
export const maxPatchOperations = 10_000;

interface Progress {
  root: Json;
  copied: number;
  shifted: number;
}

const number = /^[+-]?\d{1,10}$/;

/** The index that a key denotes of `size` places (evanphx/json-patch): negative ones from the end. */
function indexOf(key: string, size: number): number | undefined {
  const index = number.test(key) ? Number(key) : Number.NaN;
  const place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : undefined;
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(value)) {
    const index = indexOf(key, value.length);
    return index === undefined ? undefined : value[index];
  }
  return isJsonObject(value) ? own(value, key) : undefined;
}

/** A place in a document: the list or object, and the key in it. */
interface Place {
  holder: Json[] | Record<string, Json>;
  key: string;
}

const indexProblem = (key: string): string =>
  number.test(key)
    ? `Unable to access invalid index: ${Number(key)}: invalid index referenced`
    : `strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`;

const absence = ({ holder, key }: Place, verb: 'get' | 'remove'): string =>
  Array.isArray(holder) ? indexProblem(key) : `unable to ${verb} nonexistent key: ${key}: missing value`;

const valueIn = ({ holder, key }: Place): Json | undefined => child(holder, key);

function shift(progress: Progress, items: number): void {
  progress.shifted += items;
  if (progress.shifted > maxShifted) {
    throw new PatchError(`the patch moves more than ${maxShifted} items of lists; replace a list as a whole`);
  }
}

/** @param problem the text of the error if the place is in a list that has no such index. */
function put(progress: Progress, { holder, key }: Place, value: Json, problem: string): void {
  if (!Array.isArray(holder)) {
    setOwn(holder, key, value);
    return;
  }
  const index = key === '-' ? holder.length : indexOf(key, holder.length + 1);
  if (index === undefined) {
    const notNumber = number.test(key) ? '' : `value was not a proper array index: '${key}': `;
    throw new PatchError(`${problem}: ${notNumber}${indexProblem(key)}`);
  }
  shift(progress, holder.length - index);
  holder.splice(index, 0, value);
}

function take(progress: Progress, { holder, key }: Place): void {
  if (Array.isArray(holder)) {
    const index = indexOf(key, holder.length) ?? 0;
    shift(progress, holder.length - index);
    holder.splice(index, 1);
  } else {
    delete holder[key];
  }
}

const missing = (text: string) => new PatchError(`${text}: missing value`);

/** The place that a pointer refers to. @throws {PatchError} with this text if nothing on its way is a list or an object. */
function placeOf({ root }: Progress, pointer: string, text: string): Place {
  const keys = pointerKeys(pointer);
  const key = keys.pop() ?? '';
  const holder = keys.reduce<Json | undefined>(child, root);
  if (!Array.isArray(holder) && !isJsonObject(holder)) {
    throw missing(text);
  }
  return { holder, key };
}

function apply(progress: Progress, operation: PatchOperation): void {
  const { op, path } = operation;
  const lacking = `${op} operation does not apply: doc is missing`;
  switch (op) {
    case 'add':
    case 'replace': {
      const value = copyOf(operation.value ?? null);
      if (path === '') {
        progress.root = value;
        return;
      }
      if (op === 'add') {
        put(progress, placeOf(progress, path, `${lacking} path: "${path}"`), value, `error in add for path: '${path}'`);
        return;
      }
      const place = placeOf(progress, path, `${lacking} path: ${path}`);
      if (valueIn(place) === undefined) {
        throw missing(`${lacking} key: ${path}`);
      }
      const { holder, key } = place;
      if (Array.isArray(holder)) {
        holder[indexOf(key, holder.length) ?? 0] = value;
      } else {
        setOwn(holder, key, value);
      }
      return;
    }
    case 'remove': {
      const place = placeOf(progress, path, `${lacking} path: "${path}"`);
      if (path === '' || valueIn(place) === undefined) {
        throw new PatchError(`error in remove for path: '${path}': ${absence(place, 'remove')}`);
      }
      take(progress, place);
      return;
    }
    case 'move': {
      const { from } = operation;
      if (from === '') {
        throw new PatchError('unable to move entire document to another path: invalid state detected');
      }
      const source = placeOf(progress, from, `${lacking} from path: ${from}`);
      const value = valueIn(source);
      if (value === undefined) {
        throw new PatchError(`error in move for path: '${source.key}': ${absence(source, 'get')}`);
      }
      take(progress, source);
      const place = placeOf(progress, path, `${lacking} destination path: ${path}`);
      put(progress, place, value, `error in move for path: '${path}'`);
      return;
    }
    case 'copy': {
      const { from } = operation;
      const source = placeOf(progress, from, `${lacking} from path: "${from}"`);
      const value = from === '' ? progress.root : valueIn(source);
      if (value === undefined) {
        throw new PatchError(`error in copy for from: '${from}': ${absence(source, 'get')}`);
      }
      const place = placeOf(progress, path, `${lacking} destination path: ${path}`);
      progress.copied += Buffer.byteLength(JSON.stringify(value));
      if (progress.copied > maxCopiedBytes) {
        throw new PatchError(
          `Unable to complete the copy, the accumulated size increase of copy is ${progress.copied}, exceeding the limit ${maxCopiedBytes}`,
        );
      }
      put(progress, place, copyOf(value), 'error while adding value during copy');
      return;
    }
    case 'test': {
      const place = placeOf(progress, path, `test operation does not apply: is missing path: ${path}`);
      const value = path === '' ? progress.root : valueIn(place);
      if (value === undefined && Array.isArray(place.holder)) {
        throw new PatchError(`error in test for path: '${path}': ${indexProblem(place.key)}`);
      }
      // A field that is missing equals null.
      if (!isSame(value ?? null, operation.value ?? null)) {
        throw new PatchError(`testing value ${path} failed: test failed`);
      }
      return;
    }
    default:
      throw new PatchError(`Unexpected kind: ${String(op)}`);
  }
}

/** Applies operations to a copy. @throws {PatchError} when one cannot be applied, or exceeds the API server's limits. */
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

/** Why Cluster API does not decode a patch of the right form: evanphx/json-patch v5 wants a value to add. Undefined if it does. */
export function undecodable(operations: readonly Json[]): string | undefined {
  for (const operation of operations) {
    const { op, value } = objectAt(operation);
    const problem = !supported.has(op)
      ? 'unsupported operation'
      : (op === 'add' || op === 'replace') && value === undefined
        ? "failed to decode 'value': operation, missing value field: missing value"
        : undefined;
    if (problem !== undefined) {
      return `invalid operation ${JSON.stringify(operation).slice(0, 200)}: ${problem}`;
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
      setOwn(merged, key, applyMergePatch(own(merged, key), value));
    }
  }
  return merged;
}
