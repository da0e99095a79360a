import {
  type FieldPath,
  formatFieldPath,
  isJsonObject,
  isSame,
  type Json,
  objectText,
  own,
} from '../../kubernetes/index.ts';
import type { GroupChange, GroupPart } from './groups.ts';
import type { Cause } from './plan-document.ts';

/** A field that two objects do not have in common. A list is one value. */
export interface Difference {
  path: FieldPath;
  before: Json | undefined;
  after: Json | undefined;
}

/** The fields in which two values differ: the topmost ones that one of them lacks, and lists as a whole. */
export function differencesOf(before: Json | undefined, after: Json | undefined, path: FieldPath = []): Difference[] {
  if (!isJsonObject(before) || !isJsonObject(after)) {
    return isSame(before, after) ? [] : [{ path, before, after }];
  }
  const names = [...Object.keys(before), ...Object.keys(after).filter((name) => !Object.hasOwn(before, name))];
  return names.flatMap((name) => differencesOf(own(before, name), own(after, name), [...path, name]));
}

/** Whether a path begins with another one. */
export const leadsTo = (path: FieldPath, prefix: FieldPath): boolean =>
  prefix.every((segment, index) => path[index] === segment);

export const isPath = (path: FieldPath, other: FieldPath): boolean =>
  path.length === other.length && leadsTo(path, other);

/** @param object as `objectText` names it. */
export const plainCause = (object: string, { path, before, after }: Difference): Cause => ({
  object,
  field: formatFieldPath(path),
  ...(before !== undefined && { before }),
  ...(after !== undefined && { after }),
});

/** A cause: the object that has the new value, or the one that had the old value if there is none any more. */
export function causeOf(
  part: GroupPart,
  difference: Difference,
  { before, after, from }: Pick<GroupChange, 'before' | 'after' | 'from'>,
): Cause {
  const object = after?.[part] ?? before?.[part];
  const source = from(part, difference.path);
  return {
    ...plainCause(object === undefined ? part : objectText(object), difference),
    ...(source !== undefined && { from: source }),
  };
}
