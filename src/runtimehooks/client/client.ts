import type { Registry } from 'prom-client';
import { createCache } from '../../base/index.ts';
import { newestKnownRelease } from '../catalog/known.ts';
import { isCallError } from './call-error.ts';
import type { CallContext } from './calls/call-handler.ts';
import { createCalls } from './calls/calls.ts';
import { createWaits } from './calls/waits.ts';
import type { Client, ClientOptions } from './client-types.ts';
import { discover } from './discovery/discover.ts';
import { Backoff } from './exchange/backoff.ts';
import { ExtensionConnections } from './exchange/connections.ts';
import { createCallMetrics } from './exchange/metrics.ts';
import { HandlerRegistry } from './registry/registry.ts';

/**
 * Creates a client. With `extensions` it is ready; otherwise its registry has to be warmed up.
 *
 * @throws {TypeError} for an ExtensionConfig that cannot be registered.
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
  const { now = () => performance.now(), release = newestKnownRelease } = options;
  const registry = new HandlerRegistry();
  const [unregistered] = options.extensions === undefined ? [] : registry.warmUp(options.extensions).values();
  if (unregistered !== undefined) {
    throw new TypeError(`extensions: ${unregistered.message}`);
  }
  const connections = new ExtensionConnections(options);
  const backoff = new Backoff(now);
  const metrics =
    options.metrics &&
    createCallMetrics(options.metrics as Registry, () =>
      registry.extensions.map((extension) => ({
        extension: extension.name,
        backoffSeconds: (backoff.holds(extension)?.waitMs ?? 0) / 1000,
        ...connections.load(extension.name),
      })),
    );
  const context: CallContext = {
    connections,
    backoff,
    metrics,
    now,
    responses: createCache(now),
    mimicsClusterApi,
  };
  const calls = createCalls(registry, createWaits(now), options.namespaceLabels, context);
  return {
    registry,
    discover: (config, { signal } = {}) => discover(config, { release, signal }, context),
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
