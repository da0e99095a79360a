import { joinPath } from '../../kubernetes/schema/index.ts';

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
 * of the text, at most one hundred, as `fieldValidation` reports them. JSON.parse silently keeps the last of them.
 */
export function duplicateFields(text: string): string[] {
  const duplicates: string[] = [];
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
        duplicates.push(joinPath(level.path, level.key));
        if (duplicates.length === maxReported) {
          break;
        }
      }
      level.keys.add(level.key);
    } else if (level !== undefined) {
      level.text = token;
    }
  }
  return duplicates;
}
