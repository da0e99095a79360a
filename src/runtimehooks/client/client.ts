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
 * Creates a client.
 *
 * @throws {TypeError} for an ExtensionConfig that cannot be registered.
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
  const [unregistered] = registry.addAll(options.extensions ?? []).values();
  if (unregistered !== undefined) {
    throw new TypeError(`extensions: ${unregistered.message}`);
  }
  const connections = new ExtensionConnections(options);
  const backoff = new Backoff(now);
  const metrics = options.metrics && createCallMetrics(options.metrics as Registry);
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
