/**
 * Longest response, in bytes (20 MiB): the limit of Cluster API for a request, and of this package's client for a
 * response. Cluster API reads a longer one, without any limit, into the memory of its controllers.
 */
export const maxAnswerBytes = 20 * 1024 * 1024;

/** Nesting up to which an answer is counted before it becomes text. */
const maxDepth = 256;

/** Whether JSON has an object by its own enumerable fields. */
function isWrittenByField(value: object): boolean {
  return (
    typeof (value as { toJSON?: unknown }).toJSON !== 'function' &&
    !(value instanceof String || value instanceof Number || value instanceof Boolean)
  );
}

/** What is left after an object or array: see `leftAfter`. */
function leftAfterParts(value: object, left: number, depth: number): number {
  if (depth === 0 || !isWrittenByField(value)) {
    return Number.NaN;
  }
  let rest = left - 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = leftAfter(value[index], rest - 1, depth);
    }
    return rest;
  }
  for (const key in value) {
    const child = (value as Record<string, unknown>)[key];
    // A field with a value that JSON does not have is left out.
    if (child !== undefined && typeof child !== 'function' && typeof child !== 'symbol' && Object.hasOwn(value, key)) {
      rest = leftAfter(child, rest - key.length - 4, depth);
      if (!(rest >= 0)) {
        break;
      }
    }
  }
  return rest;
}

/**
 * What is left of `left` characters after a value in JSON, which has at least as many as are counted: it may escape
 * characters. Ends once nothing is left. NaN for a value that nests deeply or decides itself what JSON has of it.
 */
function leftAfter(value: unknown, left: number, depth: number): number {
  if (typeof value === 'string') {
    return left - value.length - 2;
  }
  if (typeof value === 'number') {
    const isDigit = value >= 0 && value < 10 && Number.isInteger(value);
    return left - (isDigit ? 1 : Number.isFinite(value) ? `${value}`.length : 'null'.length);
  }
  return typeof value === 'object' && value !== null ? leftAfterParts(value, left, depth - 1) : left - 'null'.length;
}

class TooLarge extends Error {}

/** At most as many characters as a value and its key have in JSON, without the values that it contains. */
function sizeOf(value: unknown, key: string, holder: unknown): number {
  if (Array.isArray(holder)) {
    return typeof value === 'string' ? value.length + 3 : 2;
  }
  // A field with a value that JSON does not have is left out.
  return typeof value === 'string'
    ? key.length + value.length + 5
    : value === undefined || typeof value === 'function' || typeof value === 'symbol'
      ? 0
      : key.length + 4;
}

/**
 * As JSON.stringify, but ends once the text is certain to be too large: its time and memory have a limit. Takes ten
 * times as long.
 */
function countedText(value: object, maxBytes: number): string {
  // The outermost value has no key, although it is counted.
  let left = maxBytes + 3;
  return JSON.stringify(value, function count(this: unknown, key: string, child: unknown) {
    left -= sizeOf(child, key, this);
    if (left < 0) {
      throw new TooLarge();
    }
    return child;
  });
}

/**
 * An answer as JSON; undefined for one of more than 20 MiB, of which not much more is ever made.
 *
 * @throws {Error} for an answer that JSON cannot represent.
 */
export function answerText(answer: object, maxBytes = maxAnswerBytes): string | undefined {
  const left = leftAfter(answer, maxBytes, maxDepth);
  if (left < 0) {
    return undefined;
  }
  try {
    const text = Number.isNaN(left) ? countedText(answer, maxBytes) : JSON.stringify(answer);
    // A character has at most three bytes.
    return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes ? undefined : text;
  } catch (error) {
    if (error instanceof TooLarge) {
      return undefined;
    }
    throw error;
  }
}
