import { createHash } from 'node:crypto';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { Registry } from '../resources/registry.ts';
import type { Resource } from '../resources/resource.ts';
import { buildDocument } from './build.ts';

/** An OpenAPI v3 document as it is sent. */
interface PublishedDocument {
  json: string;
  /** SHA-512 in upper-case hexadecimal: the hash in URLs, and the ETag. */
  hash: string;
}

/**
 * The OpenAPI v3 documents, built on request, and again only when their group and version has changed. A change of a
 * CustomResourceDefinition affects only the documents of its own versions.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #documents = new Map<string, { resources: readonly Resource[]; document: PublishedDocument }>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** The document of a group and version, or undefined if it is not served. */
  document(group: string, version: string): PublishedDocument | undefined {
    const key = `${group}/${version}`;
    const known = this.#documents.get(key);
    const resources = this.#registry.of(group, version);
    if (
      known?.resources.length === resources.length &&
      known.resources.every((one, index) => one === resources[index])
    ) {
      return known.document;
    }
    if (resources.length === 0) {
      this.#documents.delete(key);
      return undefined;
    }
    const json = JSON.stringify(buildDocument(resources));
    const document = { json, hash: createHash('sha512').update(json).digest('hex').toUpperCase() };
    this.#documents.set(key, { resources, document });
    return document;
  }

  /** `GET /openapi/v3`: the URLs of the documents, each with the hash of its content. */
  root(): { paths: JsonObject } {
    const paths: JsonObject = {};
    const groups = [...this.#registry.groups()].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [group, versions] of groups) {
      for (const version of versions.toSorted()) {
        const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
        const hash = this.document(group, version)?.hash ?? '';
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
      }
    }
    return { paths };
  }
}
