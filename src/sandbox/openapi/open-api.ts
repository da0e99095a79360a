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
  #v2: { parts: readonly (number | JsonObject)[]; document: PublishedDocument } | undefined;

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
    const document = this.#build(resources, known);
    this.#documents.set(key, { resources, document });
    return document;
  }

  #build(resources: readonly Resource[], known: Built | undefined): PublishedDocument {
    const isCustom = resources.some((resource) => resource.isCustom);
    const stop = isCustom ? this.#duration.startTimer() : undefined;
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

  /**
   * The OpenAPI v2 document of all kinds, with which kubectl validates a List.
   *
   * @param aggregated the documents of aggregated servers.
   */
  v2(aggregated: readonly JsonObject[]): PublishedDocument {
    const { revision } = this.#registry;
    const parts = [revision, ...aggregated];
    if (this.#v2?.parts.length !== parts.length || parts.some((part, index) => part !== this.#v2?.parts[index])) {
      const documents = [...this.#registry.groups()].flatMap(([group, versions]) =>
        versions.map((version) => buildDocument(this.#registry.of(group, version))),
      );
      const document = v2Of(documents, aggregated, 'v1.36.0');
      this.#v2 = { parts, document: new PublishedDocument(document, this.#clock(), 'v2') };
    }
    return this.#v2.document;
  }
}
