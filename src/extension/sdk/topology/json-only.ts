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
 */
export function firstNotJson(
  value: unknown,
  path: (string | number)[] = [],
  above: unknown[] = [],
): NotJson | undefined {
  const found = (what: string) => ({ path: jsonPointer(path), what });
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : found(whatOf(value));
    case 'object':
      break;
    default:
      return found(whatOf(value));
  }
  if (value === null) {
    return undefined;
  }
  const isList = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value);
  if (!isList && prototype !== Object.prototype && prototype !== null) {
    return found(whatOf(value));
  }
  if (above.includes(value)) {
    return found('an object that contains itself');
  }
  above.push(value);
  for (const name of isList ? value.keys() : Object.keys(value)) {
    const part = (value as Record<string | number, unknown>)[name];
    const isPlain = typeof part === 'string' || typeof part === 'boolean' || (part === undefined && !isList);
    if (!isPlain) {
      path.push(name);
      const inner = firstNotJson(part, path, above);
      if (inner !== undefined) {
        return inner;
      }
      path.pop();
    }
  }
  above.pop();
  return undefined;
}
