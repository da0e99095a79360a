import { createHash } from 'node:crypto';
import type { JsonObject } from '../../kubernetes/index.ts';
import { encodeProtobuf, type OpenApiVersion } from './protobuf.ts';

const escapes: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** An OpenAPI document as an API server sends it, in each of its representations. */
export class PublishedDocument {
  readonly version: OpenApiVersion;
  /** SHA-512 of the JSON in upper-case hexadecimal, the same for all representations: the hash in URLs, and the ETag. */
  readonly hash: string;
  readonly lastModified: Date;
  readonly #json: Buffer;
  #protobuf: Uint8Array | undefined;

  /**
   * Characters are escaped as by Go's encoding/json, so that a document whose keys are in an API server's order has the
   * same bytes and hash as on that server.
   */
  constructor(document: JsonObject, lastModified: Date, version: OpenApiVersion = 'v3') {
    // In JSON these characters occur only in strings.
    const text = JSON.stringify(document).replaceAll(/[<>&\u2028\u2029]/g, (character) => escapes[character] as string);
    this.#json = Buffer.from(text);
    this.hash = createHash('sha512').update(this.#json).digest('hex').toUpperCase();
    this.lastModified = lastModified;
    this.version = version;
  }

  /** The document in one representation. Protobuf is encoded on first request, since kubectl asks for JSON of v3. */
  as(form: 'json' | 'protobuf'): Uint8Array {
    if (form === 'json') {
      return this.#json;
    }
    this.#protobuf ??= encodeProtobuf(JSON.parse(this.#json.toString()) as JsonObject, this.version);
    return this.#protobuf;
  }
}
