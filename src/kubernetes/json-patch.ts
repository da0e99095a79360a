import type { FieldPath } from './field-path.ts';
import type { Json } from './json.ts';

/** One operation of a JSON Patch (RFC 6902), of the kinds that this program writes. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: Json }
  | { op: 'remove'; path: string };

/** A path as a JSON Pointer (RFC 6901). */
export function jsonPointer(path: FieldPath): string {
  let pointer = '';
  for (const segment of path) {
    const token = String(segment);
    pointer += `/${/[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token}`;
  }
  return pointer;
}
