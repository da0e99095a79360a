import type { JsonObject } from '../../kubernetes/index.ts';
import { encodeProtobuf, protobufMediaType, type SerializedDocument } from '../openapi-documents/index.ts';

/** The representations of a document; clients without a preference get the first. */
export const documentTypes = ['application/json', protobufMediaType] as const;

/** One of `documentTypes`. */
export type DocumentType = (typeof documentTypes)[number];

/** An OpenAPI v3 document of one group and version, ready to be sent in each of its representations. */
export class PublishedDocument {
  /** SHA-512 of the JSON in upper-case hexadecimal, the same for all representations. */
  readonly hash: string;
  /** When its content last changed. */
  readonly lastModified: Date;
  readonly #json: Buffer;
  #protobuf: Uint8Array | undefined;

  constructor({ body, hash }: SerializedDocument, lastModified: Date) {
    this.hash = hash;
    this.lastModified = lastModified;
    this.#json = body;
  }

  /** The document in one representation. Protobuf is encoded on first request, since kubectl asks for JSON. */
  as(type: DocumentType): Uint8Array {
    if (type === 'application/json') {
      return this.#json;
    }
    this.#protobuf ??= encodeProtobuf(JSON.parse(this.#json.toString()) as JsonObject);
    return this.#protobuf;
  }
}
