/**
 * Longest response, in bytes (20 MiB): the limit of Cluster API for a request, and of this package's client for a
 * response. Cluster API reads a longer one, without any limit, into the memory of its controllers.
 */
export const maxAnswerBytes = 20 * 1024 * 1024;

/** Size up to which an answer is turned into text without counting, which takes longer: characters and values. */
const smallSize = 64 * 1024;
/** Nesting up to which an answer counts as small, whatever its size. */
const smallDepth = 64;

/** What is left of `left` after a value, roughly; negative for a value that is large or nests deeply. */
function leftAfter(value: unknown, left: number, depth: number): number {
  if (typeof value === 'string') {
    return left - value.length;
  }
  if (typeof value !== 'object' || value === null) {
    return left - 1;
  }
  if (depth === 0) {
    return -1;
  }
  let rest = left - 1;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = leftAfter(value[index], rest, depth - 1);
    }
    return rest;
  }
  for (const key in value) {
    rest = leftAfter((value as Record<string, unknown>)[key], rest - key.length, depth - 1);
    if (rest < 0) {
      break;
    }
  }
  return rest;
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

/** As JSON.stringify, but ends once the text is certain to be too large: its time and memory have a limit. */
function countedText(value: object): string {
  // The outermost value has no key, although it is counted.
  let left = maxAnswerBytes + 3;
  return JSON.stringify(value, function count(this: unknown, key: string, child: unknown) {
    left -= sizeOf(child, key, this);
    if (left < 0) {
      throw new TooLarge();
    }
    return child;
  });
}

const isTooLong = (text: string) => text.length > maxAnswerBytes || Buffer.byteLength(text) > maxAnswerBytes;

/**
 * An answer as JSON; undefined for one of more than 20 MiB, of which not much more is ever made.
 *
 * @throws {Error} for an answer that JSON cannot represent.
 */
export function answerText(answer: object): string | undefined {
  if (leftAfter(answer, smallSize, smallDepth) >= 0) {
    const text = JSON.stringify(answer);
    return text.length * 3 > maxAnswerBytes && isTooLong(text) ? undefined : text;
  }
  try {
    const text = countedText(answer);
    return isTooLong(text) ? undefined : text;
  } catch (error) {
    if (error instanceof TooLarge) {
      return undefined;
    }
    throw error;
  }
}
