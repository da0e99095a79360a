import { type FieldPath, fieldAt, type JsonObject } from '../../kubernetes/index.ts';
import type { Reason } from './kind.ts';
import { timeAt } from './made-machine.ts';

/** Where a group says that Machines that are older are to be replaced. */
export const afterPath = ['spec', 'rollout', 'after'] as const;

/** The same in the KThreesControlPlane. */
export const rolloutAfterPath = ['spec', 'rolloutAfter'] as const;

export const afterPaths: readonly FieldPath[] = [afterPath, rolloutAfterPath];

/** Whether times decide which Machines of a group are replaced: when they were made, or when their certificates expire. */
export const readsTimes = (object: JsonObject): boolean =>
  [...afterPaths, ['spec', 'rollout', 'before']].some((path) => fieldAt(object, ...path) !== undefined);

/**
 * Why it is time to replace what was made at a time: it is older than a group wants it, or if the time is not known, the group
 * wants it newly.
 *
 * @param previous the object of the group before the change.
 */
export function ageReasons(
  { createdAt }: { createdAt: number | undefined },
  object: JsonObject,
  previous: JsonObject,
  path: readonly string[] = afterPath,
): Reason[] {
  const time = timeAt(object, ...path);
  const isTooOld =
    time !== undefined && (createdAt === undefined ? time !== timeAt(previous, ...path) : createdAt < time);
  return isTooOld ? [{ path, before: undefined, after: fieldAt(object, ...path) }] : [];
}
