import type { Registry as MetricsRegistry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
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

export type OpenApi = ReturnType<typeof createOpenApi>;

/** The OpenAPI documents, built on request, and again only when their group and version has changed. */
export function createOpenApi(registry: Registry, clock: () => Date, metrics: MetricsRegistry) {
  const { counter, histogram } = metricsIn(metrics, '');
  // Under the names that Kubernetes gives them (`crd_openapi_v3_…`: KEP-2896).
  const regenerations = counter(
    'apiextensions_openapi_v3_regeneration_count',
    'Counter of OpenAPI v3 spec regeneration count broken down by group, version, causing CRD and reason.',
    ['crd', 'group', 'version', 'reason'],
  );
  const duration = histogram(
    'crd_openapi_v3_aggregation_duration_seconds',
    'Time to build the OpenAPI v3 document of a group-version out of its CustomResourceDefinitions.',
    [],
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );
  const documents = new Map<string, Built>();
  let builtV2: { parts: readonly object[]; document: PublishedDocument } | undefined;

  function build(resources: readonly Resource[], known: Built | undefined): PublishedDocument {
    const stop = resources.some(({ isCustom }) => isCustom) ? duration.startTimer() : undefined;
    const document = new PublishedDocument(buildDocument(resources), clock());
    stop?.();
    // Changes that do not affect the document, such as of a status, keep it as it was.
    if (document.hash === known?.document.hash) {
      return known.document;
    }
    const before = new Map(known?.resources.map((resource) => [resource.storage, resource]));
    for (const resource of resources) {
      const { storage: crd, group, version } = resource;
      const last = before.get(crd);
      if (resource.isCustom && last !== resource) {
        regenerations.inc({ crd, group, version, reason: last === undefined ? 'add' : 'update' });
      }
    }
    return document;
  }

  function documentOf(group: string, version: string): PublishedDocument | undefined {
    const key = `${group}/${version}`;
    const resources = registry.of(group, version);
    const known = documents.get(key);
    if (known?.resources === resources) {
      return known.document;
    }
    if (resources.length === 0) {
      documents.delete(key);
      return undefined;
    }
    const document = build(resources, known);
    documents.set(key, { resources, document });
    return document;
  }

  return {
    document: documentOf,
    list: () =>
      registry
        .versions()
        .map(({ group, version }) => ({ group, version, hash: documentOf(group, version)?.hash ?? '' })),
    /** The OpenAPI v2 document of all kinds, with which kubectl validates a List, and with those of aggregated servers. */
    v2(aggregated: readonly JsonObject[]): PublishedDocument {
      const versions = registry.versions().map(({ group, version }) => registry.of(group, version));
      const parts = [...versions, ...aggregated];
      if (builtV2?.parts.length !== parts.length || parts.some((part, index) => part !== builtV2?.parts[index])) {
        const document = v2Of(versions.map(buildDocument), aggregated, 'v1.36.0');
        builtV2 = { parts, document: new PublishedDocument(document, clock(), 'v2') };
      }
      return builtV2.document;
    },
  };
}
