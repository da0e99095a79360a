import { type Json, parseJson } from '../../kubernetes/index.ts';
import { type DocumentText, readDocument, splitDocuments } from '../../kubernetes/manifests/index.ts';

const decoder = new TextDecoder();

/**
 * Maximum number of characters of a body with its aliases expanded: four times the largest body. Without aliases, JSON
 * is never that much longer than its YAML.
 */
const maxExpanded = 12 * 1024 * 1024;

/**
 * Throws when a value is longer, as JSON, than an object may be. Stops counting there, since aliases multiply the size.
 */
function checkSize(value: unknown): void {
  let left = maxExpanded;
  function count(child: unknown): void {
    left -= typeof child === 'string' ? child.length + 3 : 2;
    if (left < 0) {
      throw new Error(`its aliases expand to more than ${maxExpanded} characters`);
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
 * Parses a YAML body as the API server does, in time linear in the body. An empty body is null.
 *
 * @throws {Error} for invalid YAML, duplicate keys, more than one document, and for input beyond the limits of JSON or
 *   of aliases.
 */
export function parseYaml(body: Uint8Array): Json {
  const document = onlyDocument(decoder.decode(body));
  if (document === undefined) {
    return null;
  }
  const read = readDocument(document);
  if ('errors' in read) {
    throw new Error(read.errors.map(({ line, message }) => `line ${line}: ${message}`).join('; '));
  }
  checkSize(read.value);
  // Via JSON, so that the same limits apply.
  return parseJson(Buffer.from(JSON.stringify(read.value)));
}
