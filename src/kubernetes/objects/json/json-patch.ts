import type { FieldPath } from '../errors/field-path.ts';
import { isJsonObject, type Json, type JsonObject, own } from './json.ts';

/** One operation of a JSON Patch (RFC 6902), of the kinds that this program writes. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: Json }
  | { op: 'remove'; path: string };

/** A key as a token of a JSON Pointer (RFC 6901). */
export function pointerToken(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

/** The key that a token of a JSON Pointer stands for. */
export function keyOfToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The keys in a JSON Pointer. */
export function pointerKeys(pointer: string): string[] {
  return pointer.split('/').slice(1).map(keyOfToken);
}

/** A path as a JSON Pointer (RFC 6901). */
export const jsonPointer = (path: FieldPath): string =>
  path.map((segment) => `/${pointerToken(String(segment))}`).join('');

type Field = Json | undefined;

/** Whether two values are equal; an undefined field counts as absent. */
export function isSame(a: Field, b: Field): boolean {
  if (a === b) {
    return true;
  }
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  return isJsonObject(a) && isJsonObject(b) && haveSameFields(a, b);
}

function haveSameFields(a: JsonObject, b: JsonObject): boolean {
  // A plain object inherits no JSON value. Calling hasOwn for each field would take longer than the comparison.
  const isPlain = Object.getPrototypeOf(b) === Object.prototype;
  let more = 0;
  for (const name in a) {
    const value = a[name];
    if ((value !== b[name] || !isPlain) && !isSame(value, own(b, name))) {
      return false;
    }
    more += value === undefined ? 0 : 1;
  }
  for (const name in b) {
    more -= b[name] === undefined ? 0 : 1;
  }
  return more === 0;
}

/** The names of fields that are not identical (`===`) in both objects: first those of `a`, then those that only `b` has. */
export function changedNames(a: JsonObject, b: JsonObject): string[] {
  const isPlain = Object.getPrototypeOf(b) === Object.prototype;
  const names: string[] = [];
  for (const name in a) {
    if ((a[name] !== b[name] || !isPlain) && a[name] !== own(b, name)) {
      names.push(name);
    }
  }
  for (const name in b) {
    if (!Object.hasOwn(a, name)) {
      names.push(name);
    }
  }
  return names;
}

/**
 * The JSON Patch (RFC 6902) that turns one value into the other, by field names; empty if they are equal. Linear: items of a list
 * are compared in pairs, from the front and, if the length has changed, from the end. Below very long names, it replaces all.
 */
export function jsonPatchOf(before: Field, after: Field): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [];
  compare(before, after, '', operations);
  return operations;
}

/** Whether an object has its content in fields, unlike a Map, of which nothing would be compared. */
const isPlain = (object: object): boolean =>
  Object.getPrototypeOf(object) === Object.prototype || Object.prototype.toString.call(object) === '[object Object]';

/** Longest path that operations have in common, in characters: those of Kubernetes' objects have some hundred. */
const maxCommon = 2048;

function compare(before: Field, after: Field, path: string, operations: JsonPatchOperation[]): void {
  if (before === after) {
    return;
  }
  if (after === undefined) {
    operations.push({ op: 'remove', path });
  } else if (before === undefined) {
    operations.push({ op: 'add', path, value: after });
  } else if (path.length > maxCommon) {
    if (!isSame(before, after)) {
      operations.push({ op: 'replace', path, value: after });
    }
  } else if (isJsonObject(before) && isJsonObject(after) && isPlain(after)) {
    for (const name of changedNames(before, after).sort()) {
      compare(own(before, name), own(after, name), `${path}/${pointerToken(name)}`, operations);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(before, after, path, operations);
  } else {
    operations.push({ op: 'replace', path, value: after });
  }
}

function compareLists(before: Json[], after: Json[], path: string, operations: JsonPatchOperation[]): void {
  const shorter = Math.min(before.length, after.length);
  let front = 0;
  let back = 0;
  if (before.length !== after.length) {
    while (front < shorter && isSame(before[front], after[front])) {
      front++;
    }
    while (back < shorter - front && isSame(before[before.length - 1 - back], after[after.length - 1 - back])) {
      back++;
    }
  }
  const changed = shorter - back;
  for (let index = front; index < changed; index++) {
    compare(before[index], after[index], `${path}/${index}`, operations);
  }
  for (let index = before.length - back - 1; index >= changed; index--) {
    operations.push({ op: 'remove', path: `${path}/${index}` });
  }
  for (let index = changed; index < after.length - back; index++) {
    operations.push({ op: 'add', path: `${path}/${index}`, value: after[index] as Json });
  }
}

/** A patch as hook messages contain it: its JSON in base64. */
export function encodedPatch(patch: object): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64');
}
