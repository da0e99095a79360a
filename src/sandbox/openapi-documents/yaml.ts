import { type Json, parseJson } from '../../kubernetes/index.ts';
import { type DocumentText, readDocument, splitDocuments } from '../../kubernetes/manifests/index.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Maximum number of characters of a body with its aliases expanded: four times the largest body. Without aliases, JSON
 * is never that much longer than its YAML.
 */
const maxBody = 12 * 1024 * 1024;

/** Throws when a value is longer, as JSON, than that. Stops counting there, since aliases multiply the size. */
function checkSize(value: unknown, maxLength: number): void {
  let left = maxLength;
  function count(child: unknown): void {
    left -= typeof child === 'string' ? child.length + 3 : 2;
    if (left < 0) {
      throw new Error(`its aliases expand to more than ${maxLength} characters`);
    }
    if (typeof child === 'object' && child !== null) {
      for (const [key, item] of Object.entries(child)) {
        left -= key.length;
        count(item);
      }
    }
  }
  count(value);
}

/** The only document of a text; undefined if it is empty. */
function onlyDocument(text: string): DocumentText | undefined {
  // With a separator in front, even text that starts with a brace is YAML, as for the API server.
  const [first, second] = splitDocuments(`---\n${text}`);
  if (first !== undefined && 'error' in first) {
    throw new Error(`line ${first.line - 1}: ${first.error}`);
  }
  if (second !== undefined) {
    throw new Error('it contains more than one document; send each in its own request');
  }
  return first === undefined ? undefined : { ...first, firstLine: first.firstLine - 1 };
}

/**
 * Parses YAML as the API server does, in time linear in it. An empty text is null.
 *
 * @param maxLength how many characters of JSON it may become.
 * @throws {Error} for invalid YAML, duplicate keys, more than one document, and for input beyond the limits of JSON or
 *   of aliases.
 */
export function parseYaml(body: Uint8Array, maxLength = maxBody): Json {
  const document = onlyDocument(decoder.decode(body));
  if (document === undefined) {
    return null;
  }
  const read = readDocument(document);
  if ('errors' in read) {
    throw new Error(read.errors.map(({ line, message }) => `line ${line}: ${message}`).join('; '));
  }
  checkSize(read.value, maxLength);
  // Via JSON, so that the same limits apply.
  return parseJson(Buffer.from(JSON.stringify(read.value)));
}
