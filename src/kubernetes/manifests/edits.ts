import { isDeepStrictEqual } from 'node:util';
import { formatFieldPath } from '../objects/errors/field-path.ts';
import { isJsonObject, type Json } from '../objects/json/json.ts';

export type Path = (string | number)[];

/** One field to set, or to remove if it has no value. */
export interface Edit {
  path: Path;
  value?: Json;
}

/** A document cannot be edited without affecting other fields. */
export class EditError extends Error {}

/**
 * The smallest set of fields to set or remove that turns one value into another. Lists of different length are set as a
 * whole.
 */
export function* editsBetween(before: Json, after: Json, path: Path = []): Generator<Edit> {
  if (before === after) {
    return;
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of Object.keys(before)) {
      if (Object.hasOwn(after, key)) {
        yield* editsBetween(before[key] as Json, after[key] as Json, [...path, key]);
      } else {
        yield { path: [...path, key] };
      }
    }
    for (const key of Object.keys(after)) {
      if (!Object.hasOwn(before, key)) {
        yield { path: [...path, key], value: after[key] as Json };
      }
    }
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries()) {
      yield* editsBetween(item, after[index] as Json, [...path, index]);
    }
  } else if (!isDeepStrictEqual(before, after)) {
    yield { path, value: after };
  }
}

/** The error for a field whose value comes from an anchor. */
export function aliasError(path: Path, depth: number, alias: string): EditError {
  const field = formatFieldPath(path.slice(0, depth));
  return new EditError(`${field} is an alias (*${alias}); write its value there, since the anchor is elsewhere`);
}
