import { createCache } from '../../base/index.ts';
import { createHookCatalog } from '../catalog/catalog.ts';
import { formatGroupHook, formatHook } from '../catalog/definition.ts';
import { clusterApiHooks } from '../catalog/definitions/definitions.ts';
import { newestKnownRelease } from '../catalog/known.ts';
import { isCallError } from './call-error.ts';
import type { CallContext, Definitions } from './calls/call-handler.ts';
import { Calls } from './calls/calls.ts';
import { createWaits } from './calls/waits.ts';
import type { Client, ClientOptions } from './client-types.ts';
import { discover } from './discovery/discover.ts';
import { createBackoff } from './exchange/backoff.ts';
import { createConnections } from './exchange/connections.ts';
import { createCallMetrics } from './exchange/metrics.ts';
import { createRegistry } from './registry/registry.ts';

const defaultConcurrentCalls = 10;

function definitionsOf({ hooks = clusterApiHooks, versions = [] }: ClientOptions): Definitions {
  const all = [...hooks, ...versions.flatMap((known) => known.versions)];
  return {
    hooks: new Map(all.map((hook) => [formatHook(hook), hook])),
    versions: new Map(versions.map((known) => [formatGroupHook(known), known])),
  };
}

/** Throws for what types refuse, and plain JavaScript does not: it would fail deep inside a call. */
function checkOptions(options: ClientOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `createClient: ${options} is not an object of options: pass { maxConcurrentCalls: 10 }, or nothing`,
    );
  }
  for (const name of ['namespaceLabels', 'clientCertificate', 'resolve', 'now'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') {
      throw new TypeError(`${name}: must be a function, not ${options[name] === null ? 'null' : typeof options[name]}`);
    }
  }
  for (const name of ['hooks', 'versions'] as const) {
    if (options[name] !== undefined && !Array.isArray(options[name])) {
      throw new TypeError(
        `${name}: must be a list of what ${name === 'hooks' ? 'defineHook' : 'defineHookVersions'} returns`,
      );
    }
  }
}

/**
 * Creates a client with an empty registry.
 *
 * @throws {TypeError} for an option of another type.
 * @throws {RangeError} for a maximum of answer bytes or of concurrent calls that is not a whole number above 0.
 */
export function createClient(options: ClientOptions = {}): Client {
  return clientWith(options, false);
}

/**
 * A client that calls as Cluster API's own does, for rehearsals: without a Content-Type, and even if the extension is in
 * backoff. Discovery always does so.
 */
export function createClusterApiClient(options: ClientOptions = {}): Client {
  return clientWith(options, true);
}

function clientWith(options: ClientOptions, mimicsClusterApi: boolean): Client {
  checkOptions(options);
  const { now = () => performance.now(), release = newestKnownRelease } = options;
  const catalog = options.catalog ?? createHookCatalog();
  const registry = createRegistry();
  const connections = createConnections({
    maxConcurrentCalls: options.maxConcurrentCalls ?? defaultConcurrentCalls,
    ...(options.clientCertificate && { clientCertificate: options.clientCertificate }),
    ...(options.resolve && { resolve: options.resolve }),
    ...(options.maxAnswerBytes !== undefined && { maxAnswerBytes: options.maxAnswerBytes }),
  });
  const backoff = createBackoff(now);
  const metrics =
    options.metrics &&
    createCallMetrics(options.metrics, () =>
      registry.extensions.map((extension) => ({
        extension: extension.name,
        backoffSeconds: backoff.waitMs(extension) / 1000,
        ...connections.load(extension.name),
      })),
    );
  const context: CallContext = {
    connections,
    backoff,
    metrics,
    now,
    withoutContentType: mimicsClusterApi,
    definitions: definitionsOf(options),
    responses: createCache(now),
    mimicsClusterApi,
  };
  const calls = new Calls(registry, createWaits(now), options.namespaceLabels, context);
  return {
    registry,
    discover: (config, { signal } = {}) => discover(config, { catalog, release, signal }, context),
    callExtension: (hook, call) => calls.one(hook, call),
    callAllExtensions: (hook, call) => calls.all(hook, call),
    async handlersFor(hook, object) {
      const handlers = await calls.handlersFor(hook, object);
      return isCallError(handlers) ? handlers : handlers.map(({ name }) => name);
    },
    disconnect: (name) => connections.forget(name),
    remove(name) {
      registry.remove(name);
      connections.forget(name);
      backoff.forget(name);
    },
    close: () => connections.close(),
  };
}
