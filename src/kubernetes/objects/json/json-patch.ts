import type { FieldPath } from '../errors/field-path.ts';
import type { Json } from './json.ts';

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
export function jsonPointer(path: FieldPath): string {
  let pointer = '';
  for (const segment of path) {
    pointer += `/${pointerToken(String(segment))}`;
  }
  return pointer;
}
