import type { JsonObject } from '../../kubernetes/index.ts';
import { encodeProtobuf, serializeDocument } from '../openapi-documents/index.ts';
import type { Registry } from '../resources/registry.ts';
import type { Resource } from '../resources/resource.ts';
import { buildDocument } from './build.ts';
import type { OpenApiMetrics } from './metrics.ts';
import { PublishedDocument } from './published.ts';
import { v2Of } from './v2.ts';

interface Built {
  revision: number;
  resources: readonly Resource[];
  document: PublishedDocument;
}

/** Maximum number of documents of versions that are no longer served and have not been dropped yet. */
const slack = 100;

/**
 * The OpenAPI v3 documents, built on request, and again only when their group and version has changed. A change of a
 * CustomResourceDefinition affects only the documents of its own versions.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #clock: () => Date;
  readonly #metrics: OpenApiMetrics;
  readonly #documents = new Map<string, Built>();
  #dropAt = slack;
  #v2: { revision: number; document: JsonObject; encoded: { json?: Uint8Array; protobuf?: Uint8Array } } | undefined;

  constructor(registry: Registry, clock: () => Date, metrics: OpenApiMetrics) {
    this.#registry = registry;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Number of documents in memory. */
  get size(): number {
    return this.#documents.size;
  }

  /** The document of a group and version, or undefined if it is not served. */
  document(group: string, version: string): PublishedDocument | undefined {
    const key = `${group}/${version}`;
    const known = this.#documents.get(key);
    const revision = this.#registry.revisionOf(group, version);
    if (known?.revision === revision) {
      return known.document;
    }
    const resources = this.#registry.of(group, version);
    if (resources.length === 0) {
      this.#documents.delete(key);
      return undefined;
    }
    const document = this.#build(resources, known);
    this.#documents.set(key, { revision, resources, document });
    if (this.#documents.size >= this.#dropAt) {
      this.#dropUnserved();
    }
    return document;
  }

  #build(resources: readonly Resource[], known: Built | undefined): PublishedDocument {
    const isCustom = resources.some((resource) => resource.isCustom);
    const stop = isCustom ? this.#metrics.startAggregation() : undefined;
    const serialized = serializeDocument(buildDocument(resources));
    stop?.();
    // Changes that do not affect the document, such as of a status, keep it as it was.
    if (serialized.hash === known?.document.hash) {
      return known.document;
    }
    if (isCustom) {
      const before = new Map(known?.resources.map((resource) => [resource.storage, resource]));
      for (const resource of resources) {
        const last = before.get(resource.storage);
        if (resource.isCustom && last !== resource) {
          this.#metrics.countRegeneration(resource, last === undefined ? 'add' : 'update');
        }
      }
    }
    return new PublishedDocument(serialized, this.#clock());
  }

  /** Drops documents that are no longer served and have not been requested since. */
  #dropUnserved(): void {
    for (const key of this.#documents.keys()) {
      const [group = '', version = ''] = key.split('/');
      if (this.#registry.of(group, version).length === 0) {
        this.#documents.delete(key);
      }
    }
    this.#dropAt = this.#documents.size * 2 + slack;
  }

  /** `GET /openapi/v3`: the URLs of the documents, each with the hash of its content. */
  root(): JsonObject {
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

  /** The OpenAPI v2 document of all kinds, with which kubectl validates a List; in protobuf for kubectl. */
  v2(as: 'json' | 'protobuf'): Uint8Array {
    const { revision } = this.#registry;
    if (this.#v2?.revision !== revision) {
      const documents = [...this.#registry.groups()].flatMap(([group, versions]) =>
        versions.map((version) => buildDocument(this.#registry.of(group, version))),
      );
      this.#v2 = { revision, document: v2Of(documents, 'v1.36.0'), encoded: {} };
    }
    const { document, encoded } = this.#v2;
    encoded[as] ??= as === 'json' ? serializeDocument(document).body : encodeProtobuf(document, 'v2');
    return encoded[as];
  }
}
