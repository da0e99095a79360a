import { Counter, Histogram, type Registry as MetricsRegistry } from 'prom-client';
import type { JsonObject } from '../../kubernetes/index.ts';
import { PublishedDocument } from '../../kubernetes/openapi/index.ts';
import type { Registry } from '../resources/registry.ts';
import type { Resource } from '../resources/resource.ts';
import { buildDocument } from './build.ts';
import { v2Of } from './v2.ts';

interface Built {
  resources: readonly Resource[];
  document: PublishedDocument;
}

/**
 * The OpenAPI v3 documents, built on request, and again only when their group and version has changed. A change of a
 * CustomResourceDefinition affects only the documents of its own versions.
 */
export class OpenApi {
  readonly #registry: Registry;
  readonly #clock: () => Date;
  // Under the names that Kubernetes gives them (`crd_openapi_v3_…`: KEP-2896).
  readonly #regenerations: Counter<'crd' | 'group' | 'version' | 'reason'>;
  readonly #duration: Histogram;
  readonly #documents = new Map<string, Built>();
  #v2: { parts: readonly object[]; document: PublishedDocument } | undefined;

  constructor(registry: Registry, clock: () => Date, metrics: MetricsRegistry) {
    this.#registry = registry;
    this.#clock = clock;
    this.#regenerations = new Counter({
      name: 'apiextensions_openapi_v3_regeneration_count',
      help: 'Counter of OpenAPI v3 spec regeneration count broken down by group, version, causing CRD and reason.',
      labelNames: ['crd', 'group', 'version', 'reason'],
      registers: [metrics],
    });
    this.#duration = new Histogram({
      name: 'crd_openapi_v3_aggregation_duration_seconds',
      help: 'Time to build the OpenAPI v3 document of a group-version out of its CustomResourceDefinitions.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [metrics],
    });
  }

  /** The document of a group and version, or undefined if it is not served. */
  document(group: string, version: string): PublishedDocument | undefined {
    const key = `${group}/${version}`;
    const resources = this.#registry.of(group, version);
    const known = this.#documents.get(key);
    if (known?.resources === resources) {
      return known.document;
    }
    if (resources.length === 0) {
      this.#documents.delete(key);
      return undefined;
    }
    const document = this.#build(resources, known);
    this.#documents.set(key, { resources, document });
    return document;
  }

  #build(resources: readonly Resource[], known: Built | undefined): PublishedDocument {
    const stop = resources.some(({ isCustom }) => isCustom) ? this.#duration.startTimer() : undefined;
    const document = new PublishedDocument(buildDocument(resources), this.#clock());
    stop?.();
    // Changes that do not affect the document, such as of a status, keep it as it was.
    if (document.hash === known?.document.hash) {
      return known.document;
    }
    const before = new Map(known?.resources.map((resource) => [resource.storage, resource]));
    for (const resource of resources) {
      const last = before.get(resource.storage);
      if (resource.isCustom && last !== resource) {
        const { storage: crd, group, version } = resource;
        this.#regenerations.inc({ crd, group, version, reason: last === undefined ? 'add' : 'update' });
      }
    }
    return document;
  }

  /** Group, version and hash of each document. */
  list(): { group: string; version: string; hash: string }[] {
    return this.#registry
      .versions()
      .map(({ group, version }) => ({ group, version, hash: this.document(group, version)?.hash ?? '' }));
  }

  /**
   * The OpenAPI v2 document of all kinds, with which kubectl validates a List.
   *
   * @param aggregated the documents of aggregated servers.
   */
  v2(aggregated: readonly JsonObject[]): PublishedDocument {
    const versions = this.#registry.versions().map(({ group, version }) => this.#registry.of(group, version));
    const parts = [...versions, ...aggregated];
    if (this.#v2?.parts.length !== parts.length || parts.some((part, index) => part !== this.#v2?.parts[index])) {
      const document = v2Of(versions.map(buildDocument), aggregated, 'v1.36.0');
      this.#v2 = { parts, document: new PublishedDocument(document, this.#clock(), 'v2') };
    }
    return this.#v2.document;
  }
}
