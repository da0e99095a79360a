import { setTimeout } from 'node:timers/promises';
import { isSame, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type ApiService, apiServiceStorage } from '../kinds/api-service.ts';
import { conditionsOf, isConditionTrue, withCondition } from '../kinds/conditions.ts';
import { soon } from '../kinds/soon.ts';
import type { Registry } from '../resources/registry.ts';
import { type Store, storageKey } from '../storage/store.ts';
import type { ResolveService } from '../webhooks/webhook-call.ts';
import { availabilityOf } from './availability.ts';
import { Backend, type ProxyClient } from './backend.ts';
import { type OpenApiEntry, readOpenApi, readResources } from './documents.ts';

/** How often aggregated servers are contacted, in ms. */
export interface AggregationPace {
  /** Interval between checks, after which the documents of an available server are read. */
  checkMs: number;
  /** Timeout for reading the documents. */
  timeoutMs: number;
}

const defaultPace: AggregationPace = { checkMs: 30_000, timeoutMs: 15_000 };
/** Longest interval between checks of a server that is not available, in ms. */
const retryMs = 1000;

interface AggregatorContext {
  store: Store;
  registry: Registry;
  now(): string;
  proxyClient: ProxyClient;
  resolve: ResolveService;
  pace: AggregationPace | undefined;
}

/** The aggregated server of one APIService, whose state it keeps up to date. */
export class Remote {
  readonly apiService: ApiService;
  readonly backend: Backend;
  /** Resources as items of aggregated discovery, as last read. */
  resources: readonly JsonObject[] = [];
  openapi: OpenApiEntry | undefined;
  readonly #context: AggregatorContext;
  readonly #pace: AggregationPace;
  readonly #stop = new AbortController();
  /** Ends the wait for the next check. */
  #wake = new AbortController();

  constructor(apiService: ApiService, context: AggregatorContext) {
    this.apiService = apiService;
    this.#context = context;
    this.#pace = context.pace ?? defaultPace;
    this.backend = new Backend(apiService, context.proxyClient, context.resolve);
    void this.#run();
  }

  /** Begins the next check now, or as soon as the one in progress has ended. */
  check(): void {
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { checkMs } = this.#pace;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const isAvailable = await this.#round().catch(() => false);
      await setTimeout(isAvailable ? checkMs : Math.min(checkMs, retryMs), undefined, {
        signal: AbortSignal.any([signal, this.#wake.signal]),
      }).catch(() => {});
    }
  }

  /** @returns whether the server is available. */
  async #round(): Promise<boolean> {
    const { signal } = this.#stop;
    const { store, now } = this.#context;
    const availability = await availabilityOf(this.backend, store, signal);
    const isAvailable = availability.status === 'True';
    // The documents are read before the server is reported as available.
    if (isAvailable) {
      await this.#read();
    }
    const collection = store.collection(apiServiceStorage);
    const key = storageKey('', this.apiService.metadata.name);
    const object = signal.aborted ? undefined : collection.get(key);
    if (object !== undefined) {
      const conditions = withCondition(conditionsOf(object), availability, now());
      if (!isSame(conditions, conditionsOf(object))) {
        collection.replace(key, object, { ...object, status: { ...objectAt(object, 'status'), conditions } });
      }
    }
    return isAvailable;
  }

  get isAvailable(): boolean {
    const key = storageKey('', this.apiService.metadata.name);
    const object = this.#context.store.collection(apiServiceStorage).get(key);
    return object !== undefined && isConditionTrue(object, 'Available');
  }

  /** Reads the documents that the server publishes. Those that cannot be read remain as they were. */
  async #read(): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#pace.timeoutMs)]);
    const at = new Date(this.#context.now());
    await Promise.allSettled([
      readResources(this.backend, signal).then((resources) => {
        this.resources = resources;
      }),
      readOpenApi(this.backend, this.openapi, at, signal).then((entry) => {
        this.openapi = entry;
      }),
    ]);
  }

  close(): void {
    this.#stop.abort();
    this.backend.close();
  }
}

/** The aggregated API servers, their availability, and what they publish. */
export class Aggregator {
  readonly #context: AggregatorContext;
  /** By the name of the APIService. */
  readonly #remotes = new Map<string, Remote>();
  readonly #stop: () => void;

  constructor(context: AggregatorContext) {
    this.#context = context;
    const { store } = context;
    const { schedule, stop } = soon(() => this.#reconcile());
    this.#stop = stop;
    store.collection(apiServiceStorage).subscribe(schedule);
    // A Service that was missing may have been created.
    store.collection('services').subscribe(() => {
      for (const remote of this.#remotes.values()) {
        remote.check();
      }
    });
    schedule();
  }

  #reconcile(): void {
    const seen = new Set<string>();
    for (const [, object] of this.#context.store.collection(apiServiceStorage).list()) {
      const apiService = object as unknown as ApiService;
      const { name, uid } = apiService.metadata;
      if (apiService.spec.service === undefined) {
        continue;
      }
      seen.add(name);
      const known = this.#remotes.get(name);
      if (known?.apiService.metadata.uid !== uid || !isSame(known.apiService.spec as Json, apiService.spec as Json)) {
        known?.close();
        this.#remotes.set(name, new Remote(apiService, this.#context));
      }
    }
    for (const [name, remote] of this.#remotes) {
      if (!seen.has(name)) {
        remote.close();
        this.#remotes.delete(name);
      }
    }
  }

  /** The server of a group and version; undefined if the API server serves it itself, or if no server does. */
  find(group: string, version: string): Remote | undefined {
    // Versions served by the API server itself stay local: an APIService cannot take them over.
    return this.#context.registry.serves(group, version) ? undefined : this.#remotes.get(`${version}.${group}`);
  }

  /** All servers that `find` can return. */
  all(): Remote[] {
    return [...this.#remotes.values()].filter(
      ({ apiService: { spec } }) => this.find(spec.group ?? '', spec.version) !== undefined,
    );
  }

  /** The entries of all servers in the list of OpenAPI documents: `[PATH, ENTRY]`. */
  openApiEntries(): [string, JsonObject][] {
    return this.all().flatMap(({ backend: { path }, openapi }): [string, JsonObject][] => {
      const query = openapi?.v3?.hash === undefined ? '' : `?hash=${openapi.v3.hash}`;
      return openapi?.v3 === undefined ? [] : [[path.slice(1), { serverRelativeURL: `/openapi/v3${path}${query}` }]];
    });
  }

  v2Documents(): JsonObject[] {
    return this.all()
      .map(({ openapi }) => openapi?.v2?.document)
      .filter((document) => document !== undefined);
  }

  stop(): void {
    this.#stop();
    for (const remote of this.#remotes.values()) {
      remote.close();
    }
  }
}
