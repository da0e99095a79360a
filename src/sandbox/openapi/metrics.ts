import { Counter, Histogram, type Registry as MetricsRegistry } from 'prom-client';
import type { Registry } from '../resources/registry.ts';
import type { Resource } from '../resources/resource.ts';

/** Maximum number of series of the counter between two scrapes; further ones are counted together. */
const maxSeries = 2000;
const beyond = { crd: 'other', group: 'other', version: 'other' };

/** The metrics of OpenAPI documents, under the names that Kubernetes gives them (`crd_openapi_v3_…`: KEP-2896). */
export class OpenApiMetrics {
  readonly #registry: Registry;
  readonly #regenerations: Counter<'crd' | 'group' | 'version' | 'reason'>;
  readonly #duration: Histogram;
  /** The labels that have been counted, by their values. */
  readonly #series = new Map<string, { crd: string; group: string; version: string; reason: string }>();

  constructor(registry: Registry, metrics: MetricsRegistry) {
    this.#registry = registry;
    this.#regenerations = new Counter({
      name: 'apiextensions_openapi_v3_regeneration_count',
      help: 'Counter of OpenAPI v3 spec regeneration count broken down by group, version, causing CRD and reason.',
      labelNames: ['crd', 'group', 'version', 'reason'],
      registers: [metrics],
      collect: () => this.#removeDeleted(),
    });
    this.#duration = new Histogram({
      name: 'crd_openapi_v3_aggregation_duration_seconds',
      help: 'Time to build the OpenAPI v3 document of a group-version out of its CustomResourceDefinitions.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [metrics],
    });
  }

  /** @returns a function that ends the measurement. */
  startAggregation(): () => void {
    return this.#duration.startTimer();
  }

  /** Counts a document that changed because a definition was added or changed. */
  countRegeneration({ storage: crd, group, version }: Resource, reason: 'add' | 'update'): void {
    const key = `${crd}/${version}/${reason}`;
    if (!this.#series.has(key) && this.#series.size >= maxSeries) {
      this.#regenerations.inc({ ...beyond, reason });
      return;
    }
    const labels = { crd, group, version, reason };
    this.#series.set(key, labels);
    this.#regenerations.inc(labels);
  }

  /** Users choose the names of definitions, so the series of deleted ones must be removed. */
  #removeDeleted(): void {
    for (const [key, labels] of this.#series) {
      if (this.#registry.ofStorage(labels.crd).length === 0) {
        this.#series.delete(key);
        this.#regenerations.remove(labels);
      }
    }
  }
}
