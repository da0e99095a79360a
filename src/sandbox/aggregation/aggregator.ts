import { setTimeout } from 'node:timers/promises';
import { withoutNodeHint } from '../../base/index.ts';
import { isSame, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type ApiService, apiServiceStorage } from '../kinds/api-service.ts';
import { type Condition, condition, conditionsOf, withCondition } from '../kinds/conditions.ts';
import type { UserInfo } from '../resources/resource.ts';
import { soon, storageKey } from '../storage/store.ts';
import type { ApiContext } from '../webhooks/admission.ts';
import { NoEndpointError, type ResolveService } from '../webhooks/webhook-call.ts';
import { type Backend, backendOf, type ProxyClient } from './backend.ts';
import { type OpenApiEntry, readOpenApi, readResources } from './documents.ts';

/** How often aggregated servers are contacted, and the timeout for reading their documents, in ms. */
export interface AggregationPace {
  checkMs: number;
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

interface AggregatorContext extends Pick<ApiContext, 'store' | 'registry' | 'now'> {
  proxyClient: ProxyClient;
  resolve: ResolveService;
  pace: AggregationPace | undefined;
  signal: AbortSignal;
}

interface Remote {
  apiService: ApiService;
  backend: Backend;
  /** As items of aggregated discovery. */
  resources: readonly JsonObject[];
  openapi: OpenApiEntry | undefined;
  isAvailable: boolean;
  close(): void;
}

async function availabilityOf(
  { apiService, backend }: Remote,
  { store }: AggregatorContext,
  signal: AbortSignal,
): Promise<Condition> {
  const { path } = backend;
  const unavailable = (reason: string, message: string) => condition('Available', 'False', reason, message);
  let url: string;
  try {
    const { host, port } = backend.target();
    url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  } catch (error) {
    if (!(error instanceof NoEndpointError)) {
      throw error;
    }
    const { namespace, name } = apiService.spec.service ?? { namespace: '', name: '' };
    const shown = `service/${name} in ${JSON.stringify(namespace)}`;
    return store.collection('services').get(storageKey(namespace, name)) === undefined
      ? unavailable('ServiceNotFound', `${shown} is not present`)
      : unavailable('MissingEndpoints', `endpoints for ${shown} have no addresses with port name ""`);
  }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(checkTimeoutMs)]);
  let problem: string;
  try {
    const { status } = await backend.get(path, checkingUser, { 'user-agent': 'kube-apiserver' }, maxCheckedBytes, stop);
    if (status >= 200 && status <= 399) {
      return condition('Available', 'True', 'Passed', 'all checks passed');
    }
    problem = `bad status from ${url}: ${status}`;
  } catch (error) {
    problem = stop.aborted ? `timed out waiting for ${url}` : withoutNodeHint((error as Error).message);
  }
  return unavailable('FailedDiscoveryCheck', `failing or missing response from ${url}: ${problem}`);
}

/** Reads the documents that a server publishes. Those that cannot be read remain as they were. */
async function readDocuments(remote: Remote, { pace = defaultPace, now }: AggregatorContext, ended: AbortSignal) {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(pace.timeoutMs)]);
  const [resources, openapi] = await Promise.allSettled([
    readResources(remote.backend, signal),
    readOpenApi(remote.backend, remote.openapi, new Date(now()), signal),
  ]);
  remote.resources = resources.status === 'fulfilled' ? resources.value : remote.resources;
  remote.openapi = openapi.status === 'fulfilled' ? openapi.value : remote.openapi;
}

/** Keeps what is known of a server up to date, and its condition, until it is closed. */
function follow(apiService: ApiService, context: AggregatorContext): Remote {
  const { proxyClient, resolve, store, now, pace = defaultPace } = context;
  const end = new AbortController();
  const signal = AbortSignal.any([context.signal, end.signal]);
  const backend = backendOf(apiService, proxyClient, resolve);
  const close = () => end.abort();
  const remote: Remote = { apiService, backend, resources: [], openapi: undefined, isAvailable: false, close };
  async function check(): Promise<void> {
    const availability = await availabilityOf(remote, context, signal);
    const isAvailable = availability.status === 'True';
    // The documents are read before the server is reported as available.
    if (isAvailable) {
      await readDocuments(remote, context, signal);
    }
    remote.isAvailable = isAvailable;
    const collection = store.collection(apiServiceStorage);
    const key = storageKey('', apiService.metadata.name);
    const object = signal.aborted ? undefined : collection.get(key);
    if (object !== undefined) {
      const conditions = withCondition(conditionsOf(object), availability, now());
      if (!isSame(conditions, conditionsOf(object))) {
        collection.write(key, object, { ...object, status: { ...objectAt(object, 'status'), conditions } });
      }
    }
  }
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await check().catch(() => {
        remote.isAvailable = false;
      });
      const waitMs = remote.isAvailable ? pace.checkMs : Math.min(pace.checkMs, retryMs);
      await setTimeout(waitMs, undefined, { signal }).catch(() => {});
    }
  }
  void run();
  return remote;
}

export type Aggregator = ReturnType<typeof createAggregator>;

/** The aggregated API servers, their availability, and what they publish, until the signal is aborted. */
export function createAggregator(context: AggregatorContext) {
  const { store, registry, signal } = context;
  const remotes = new Map<string, Remote>();
  function reconcile(): void {
    const wanted = new Map(
      store
        .collection(apiServiceStorage)
        .list()
        .map(([, object]) => object as unknown as ApiService)
        .filter(({ spec }) => spec.service !== undefined)
        .map((apiService) => [apiService.metadata.name, apiService]),
    );
    for (const [name, { apiService, close }] of remotes) {
      const next = wanted.get(name);
      if (next?.metadata.uid === apiService.metadata.uid && isSame(next.spec as Json, apiService.spec as Json)) {
        wanted.delete(name);
      } else {
        close();
        remotes.delete(name);
      }
    }
    for (const [name, apiService] of wanted) {
      remotes.set(name, follow(apiService, context));
    }
  }
  store.collection(apiServiceStorage).subscribe(soon(reconcile, signal));

  /** The server of a group and version; undefined if the API server serves it itself, or if no server does. */
  function find(group: string, version: string): Remote | undefined {
    // Versions served by the API server itself stay local: an APIService cannot take them over.
    return registry.of(group, version).length > 0 ? undefined : remotes.get(`${version}.${group}`);
  }
  return {
    find,
    /** All servers that `find` can return. */
    all: () => [...remotes.values()].filter(({ apiService: { spec } }) => find(spec.group ?? '', spec.version)),
  };
}
