import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import { joinPath } from '../../schema/index.ts';

/** Every string of a JSON text, and whether it is a key. */
const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

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

/** Strings, and what opens, separates and closes arrays and objects. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** An open array or object, with the current position in it. */
interface Level {
  path: string;
  /** The keys that an object has had; undefined for an array. */
  keys: Set<string> | undefined;
  index: number;
  /** The latest string, which is a key when a colon follows. */
  text: string;
  key: string;
}

/** Maximum number of fields that are reported, as by the decoder of the API server. */
const maxReported = 100;

/**
 * The paths of the fields that a valid JSON text has more than once (`spec.bar`, `spec.list[0].foo`), in the order of
 * the text, the first hundred, as `fieldValidation` reports them. JSON.parse keeps the last of them silently, so keys
 * are counted first; only a text that lost some is read again, token by token.
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
