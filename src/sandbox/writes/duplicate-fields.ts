import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import { joinPath } from '../../kubernetes/schema/index.ts';

/**
 * Matches every string of a JSON text; the group tells whether it is a key. What lies between escapes is matched by a
 * repeat of its own, which takes half the time of one character after the other.
 */
const strings = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

function keysWritten(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(strings)) {
    count += colon === undefined ? 0 : 1;
  }
  return count;
}

function keysKept(value: Json): number {
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, item) => sum + keysKept(item), 0);
  }
  if (!isJsonObject(value)) {
    return 0;
  }
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + keysKept(item), 0);
}

/** Matches strings, and the characters that open, separate and close arrays and objects. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/** An open array or object, with the current position in it. */
interface Level {
  path: string;
  /** The keys seen so far in an object; undefined for an array. */
  keys: Set<string> | undefined;
  index: number;
  /** The latest string, which is a key if a colon follows. */
  text: string;
  key: string;
}

/** Maximum number of fields that are reported, as by the decoder of the API server. */
const maxReported = 100;

/**
 * The paths of the fields that occur more than once in a valid JSON text (`spec.bar`, `spec.list[0].foo`), in the order
 * of the text, at most one hundred, as `fieldValidation` reports them. JSON.parse silently keeps the last of them. So
 * keys are counted first; only a text from which some were lost is read again, token by token.
 */
export function duplicateFields(text: string, value: Json): string[] {
  if (keysWritten(text) === keysKept(value)) {
    return [];
  }
  const found: string[] = [];
  const open: Level[] = [];
  for (const [token] of text.matchAll(tokens)) {
    const level = open.at(-1);
    if (token === '{' || token === '[') {
      let path = '';
      if (level !== undefined) {
        path = level.keys === undefined ? `${level.path}[${level.index}]` : joinPath(level.path, level.key);
      }
      open.push({ path, keys: token === '{' ? new Set() : undefined, index: 0, text: '', key: '' });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (level !== undefined && token === ',') {
      level.index++;
    } else if (level?.keys !== undefined && token === ':') {
      level.key = JSON.parse(level.text) as string;
      if (level.keys.has(level.key)) {
        found.push(joinPath(level.path, level.key));
        if (found.length === maxReported) {
          break;
        }
      }
      level.keys.add(level.key);
    } else if (level !== undefined) {
      level.text = token;
    }
  }
  return found;
}
