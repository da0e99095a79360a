import { setTimeout } from 'node:timers/promises';
import { withoutNodeHint } from '../../base/index.ts';
import { isSame, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type ApiService, apiServiceStorage } from '../kinds/api-service.ts';
import { type Condition, condition, conditionsOf, withCondition } from '../kinds/conditions.ts';
import { soon } from '../kinds/soon.ts';
import type { Registry } from '../resources/registry.ts';
import type { UserInfo } from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { NoEndpointError, type ResolveService } from '../webhooks/webhook-call.ts';
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

/** The user as which the API server checks the availability of aggregated servers. */
const checkingUser: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };
/** Timeout of a check in ms (kube-aggregator, remote availability). */
const checkTimeoutMs = 5000;
/** Maximum number of bytes of a response to a check that are read; the content does not matter. */
const maxCheckedBytes = 1024 * 1024;

interface AggregatorContext {
  store: Store;
  registry: Registry;
  now(): string;
  proxyClient: ProxyClient;
  resolve: ResolveService;
  pace: AggregationPace | undefined;
  /** Ends all checks. */
  signal: AbortSignal;
}

/** The aggregated server of one APIService, whose state it keeps up to date. */
class Remote {
  readonly apiService: ApiService;
  readonly backend: Backend;
  /** Resources as items of aggregated discovery, as last read. */
  resources: readonly JsonObject[] = [];
  openapi: OpenApiEntry | undefined;
  isAvailable = false;
  readonly #context: AggregatorContext;
  readonly #end = new AbortController();
  readonly #signal: AbortSignal;

  constructor(apiService: ApiService, context: AggregatorContext) {
    this.apiService = apiService;
    this.#context = context;
    this.#signal = AbortSignal.any([context.signal, this.#end.signal]);
    this.backend = new Backend(apiService, context.proxyClient, context.resolve);
    void this.#run();
  }

  close(): void {
    this.#end.abort();
  }

  async #run(): Promise<void> {
    const { checkMs } = this.#context.pace ?? defaultPace;
    while (!this.#signal.aborted) {
      await this.#round().catch(() => {
        this.isAvailable = false;
      });
      const waitMs = this.isAvailable ? checkMs : Math.min(checkMs, retryMs);
      await setTimeout(waitMs, undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  async #round(): Promise<void> {
    const availability = await this.#availability();
    const isAvailable = availability.status === 'True';
    // The documents are read before the server is reported as available.
    if (isAvailable) {
      await this.#read();
    }
    this.isAvailable = isAvailable;
    const collection = this.#context.store.collection(apiServiceStorage);
    const key = storageKey('', this.apiService.metadata.name);
    const object = this.#signal.aborted ? undefined : collection.get(key);
    if (object !== undefined) {
      const conditions = withCondition(conditionsOf(object), availability, this.#context.now());
      if (!isSame(conditions, conditionsOf(object))) {
        collection.write(key, object, { ...object, status: { ...objectAt(object, 'status'), conditions } });
      }
    }
  }

  /** Checks whether the server serves its group and version. */
  async #availability(): Promise<Condition> {
    const { path } = this.backend;
    const unavailable = (reason: string, message: string) => condition('Available', 'False', reason, message);
    let url: string;
    try {
      const { host, port } = this.backend.target();
      url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
    } catch (error) {
      if (!(error instanceof NoEndpointError)) {
        throw error;
      }
      const { namespace, name } = this.apiService.spec.service ?? { namespace: '', name: '' };
      const shown = `service/${name} in ${JSON.stringify(namespace)}`;
      return this.#context.store.collection('services').get(storageKey(namespace, name)) === undefined
        ? unavailable('ServiceNotFound', `${shown} is not present`)
        : unavailable('MissingEndpoints', `endpoints for ${shown} have no addresses with port name ""`);
    }
    const stop = AbortSignal.any([this.#signal, AbortSignal.timeout(checkTimeoutMs)]);
    let problem: string;
    try {
      const headers = { 'user-agent': 'kube-apiserver' };
      const { status } = await this.backend.get(path, checkingUser, headers, maxCheckedBytes, stop);
      if (status >= 200 && status <= 399) {
        return condition('Available', 'True', 'Passed', 'all checks passed');
      }
      problem = `bad status from ${url}: ${status}`;
    } catch (error) {
      problem = stop.aborted ? `timed out waiting for ${url}` : withoutNodeHint((error as Error).message);
    }
    return unavailable('FailedDiscoveryCheck', `failing or missing response from ${url}: ${problem}`);
  }

  /** Reads the documents that the server publishes. Those that cannot be read remain as they were. */
  async #read(): Promise<void> {
    const { pace = defaultPace, now } = this.#context;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(pace.timeoutMs)]);
    await Promise.allSettled([
      readResources(this.backend, signal).then((resources) => {
        this.resources = resources;
      }),
      readOpenApi(this.backend, this.openapi, new Date(now()), signal).then((entry) => {
        this.openapi = entry;
      }),
    ]);
  }
}

/** The aggregated API servers, their availability, and what they publish. */
export class Aggregator {
  readonly #context: AggregatorContext;
  /** By the name of the APIService. */
  readonly #remotes = new Map<string, Remote>();

  constructor(context: AggregatorContext) {
    this.#context = context;
    const { store, signal } = context;
    store.collection(apiServiceStorage).subscribe(soon(() => this.#reconcile(), signal));
  }

  #reconcile(): void {
    const objects = this.#context.store.collection(apiServiceStorage).list();
    const wanted = new Map(
      objects
        .map(([, object]) => object as unknown as ApiService)
        .filter(({ spec }) => spec.service !== undefined)
        .map((apiService) => [apiService.metadata.name, apiService]),
    );
    for (const [name, remote] of this.#remotes) {
      const { metadata, spec } = remote.apiService;
      const next = wanted.get(name);
      if (next?.metadata.uid === metadata.uid && isSame(next.spec as Json, spec as Json)) {
        wanted.delete(name);
      } else {
        remote.close();
        this.#remotes.delete(name);
      }
    }
    for (const [name, apiService] of wanted) {
      this.#remotes.set(name, new Remote(apiService, this.#context));
    }
  }

  /** The server of a group and version; undefined if the API server serves it itself, or if no server does. */
  find(group: string, version: string): Remote | undefined {
    // Versions served by the API server itself stay local: an APIService cannot take them over.
    return this.#context.registry.of(group, version).length > 0 ? undefined : this.#remotes.get(`${version}.${group}`);
  }

  /** All servers that `find` can return. */
  all(): Remote[] {
    return [...this.#remotes.values()].filter(
      ({ apiService: { spec } }) => this.find(spec.group ?? '', spec.version) !== undefined,
    );
  }
}
