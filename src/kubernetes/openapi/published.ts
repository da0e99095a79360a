import { createHash } from 'node:crypto';
import type { JsonObject } from '../objects/json/json.ts';
import { encodeProtobuf, type OpenApiVersion } from './protobuf.ts';

export class PublishedDocument {
  readonly version: OpenApiVersion;
  /** SHA-512 of the JSON in upper-case hexadecimal, the same for all representations: the hash in URLs, and the ETag. */
  readonly hash: string;
  readonly lastModified: Date;
  readonly #json: Buffer;
  #protobuf: Uint8Array | undefined;

  constructor(document: JsonObject, lastModified: Date, version: OpenApiVersion = 'v3') {
    this.#json = Buffer.from(JSON.stringify(document));
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
