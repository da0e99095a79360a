import { isJsonObject, type Json } from '../../../kubernetes/index.ts';

/** Longest path that is read, in characters. */
const maxLength = 1024;

/** Parsed paths: programs have a few, and use them in every call. */
const known = new Map<string, readonly (string | number)[]>();
/** Maximum number of cached paths. */
const maxKnown = 1000;

/** As `parsePath`, with a cache. */
export function segmentsOf(path: string): readonly (string | number)[] {
  let segments = known.get(path);
  if (segments === undefined) {
    segments = parsePath(path);
    if (known.size < maxKnown) {
      known.set(path, segments);
    }
  }
  return segments;
}

/**
 * The segments of a path such as `spec.template.spec.disks[0].size` or `metadata.labels["example.com/tier"]`: names and
 * indices.
 *
 * @throws {SyntaxError} when the text is not a path.
 */
export function parsePath(path: string): (string | number)[] {
  const segments: (string | number)[] = [];
  const wrong = () =>
    new SyntaxError(`${JSON.stringify(String(path).slice(0, 100))} is not a path such as a.b[0].c or a["b.c"]`);
  if (typeof path !== 'string' || path.length > maxLength) {
    throw wrong();
  }
  const segment = /([^.[\]"]+)|\[(\d{1,9})\]|\["([^"]*)"\]/y;
  let at = 0;
  while (at < path.length) {
    if (segments.length > 0 && path[at] === '.') {
      at++;
      if (path[at] === '[') {
        throw wrong();
      }
    } else if (segments.length > 0 && path[at] !== '[') {
      throw wrong();
    }
    segment.lastIndex = at;
    const match = segment.exec(path);
    const name = match?.[1] ?? match?.[3];
    if (match === null || name === '__proto__') {
      throw wrong();
    }
    segments.push(name ?? Number(match[2]));
    at = segment.lastIndex;
  }
  if (segments.length === 0 || path.endsWith('.')) {
    throw wrong();
  }
  return segments;
}

/** The value at one segment of a path; undefined if it is absent. */
export function step(value: Json | undefined, segment: string | number): Json | undefined {
  if (typeof segment === 'number') {
    return Array.isArray(value) ? value[segment] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

/**
 * The value at a path; undefined when it is absent.
 *
 * @param object of a message, such as a Cluster or a template: JSON, whatever its type.
 * @throws {SyntaxError} when the text is not a path.
 */
export function getField(object: unknown, path: string): Json | undefined {
  return segmentsOf(path).reduce<Json | undefined>(step, object as Json);
}

/**
 * Sets the value at a path, creating missing objects on the way; undefined removes the value and creates nothing.
 *
 * @param object of a message, such as a template: JSON, whatever its type; so is the value.
 * @throws {RangeError} when something on the way is not an object, or an index is beyond the end of a list.
 */
export function setField(object: object, path: string, value: Json | object | undefined): void {
  const segments = [...segmentsOf(path)];
  const last = segments.pop() as string | number;
  let holder = object as Json;
  for (const [index, segment] of segments.entries()) {
    let next: Json | undefined = step(holder, segment);
    if (next === undefined || next === null) {
      if (value === undefined) {
        return;
      }
      next = typeof (segments[index + 1] ?? last) === 'number' ? [] : {};
      put(holder, segment, next, path);
    }
    holder = next;
  }
  if (value !== undefined) {
    put(holder, last, value as Json, path);
  } else if (Array.isArray(holder) && typeof last === 'number') {
    holder.splice(last, 1);
  } else if (isJsonObject(holder)) {
    delete holder[last];
  }
}

function put(holder: Json, segment: string | number, value: Json, path: string): void {
  if (Array.isArray(holder) && typeof segment === 'number' && segment <= holder.length) {
    holder[segment] = value;
  } else if (isJsonObject(holder) && typeof segment === 'string') {
    holder[segment] = value;
  } else {
    throw new RangeError(
      `${path}: ${JSON.stringify(segment)} cannot be set: what is there is not an object or list that has it`,
    );
  }
}
