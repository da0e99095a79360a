import { createHash } from 'node:crypto';
import type { JsonObject } from '../../kubernetes/index.ts';

/** An OpenAPI document as an API server sends it. */
export interface SerializedDocument {
  /** JSON, UTF-8. */
  body: Buffer;
  /** SHA-512 of the body in upper-case hexadecimal: the hash in URLs, and the ETag without its quotes. */
  hash: string;
}

const escapes: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * A document as JSON, with its hash. Characters are escaped as by Go's encoding/json, so that a document whose keys are
 * in an API server's order has the same bytes and hash as on that server.
 */
export function serializeDocument(document: JsonObject): SerializedDocument {
  // In JSON these characters occur only in strings.
  const text = JSON.stringify(document).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] as string);
  const body = Buffer.from(text);
  return { body, hash: createHash('sha512').update(body).digest('hex').toUpperCase() };
}
