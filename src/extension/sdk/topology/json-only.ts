import { jsonPointer } from '../../../kubernetes/index.ts';

/** A value that JSON does not have, and where it is. */
interface NotJson {
  path: string;
  what: string;
}

function whatOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    return `a ${value.constructor?.name ?? 'object of a class'}`;
  }
  return typeof value === 'number' || value === undefined ? String(value) : `a ${typeof value}`;
}

/**
 * The first value that JSON does not have: JSON.stringify makes null of NaN and an empty object of a Map, and leaves out
 * functions. A field that is undefined counts as absent.
 *
 * @param above the objects and lists around it.
 */
export function firstNotJson(value: unknown, above: readonly unknown[] = []): NotJson | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) {
    return undefined;
  }
  const isList = Array.isArray(value);
  const prototype = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  if (!isList && prototype !== Object.prototype && prototype !== null) {
    return { path: '', what: whatOf(value) };
  }
  if (above.includes(value)) {
    return { path: '', what: 'an object that contains itself' };
  }
  const inside = [...above, value];
  for (const [name, part] of isList ? value.entries() : Object.entries(value as object)) {
    const found = part === undefined && !isList ? undefined : firstNotJson(part, inside);
    if (found !== undefined) {
      return { ...found, path: `${jsonPointer([name])}${found.path}` };
    }
  }
  return undefined;
}
