import type { Logger } from 'pino';
import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import type { Client } from '../../runtimehooks/client/index.ts';
import { pausedAnnotation } from '../configs/discovered-status.ts';
import type { EventRecorder } from '../configs/events.ts';
import { createOwnWrites } from '../configs/own-writes.ts';
import { createConfigStore, type StoredConfig } from '../configs/stored.ts';
import type { RunResult } from '../queue/queue.ts';
import { discoverConfig } from './discover.ts';
import type { Worker } from './worker.ts';

/** The dependencies of the mode `discover`. */
export interface DiscoverWorkerOptions {
  cluster: KubernetesClient;
  client: Client;
  events: EventRecorder;
  log: Logger;
  now: () => Date;
  resyncMs: number;
}

/**
 * The parts of an object that a run depends on and writes; labels and conditions of other controllers are not among
 * them.
 */
function fingerprintOf({ metadata, status }: StoredConfig): string {
  const { annotations = {} } = metadata;
  return JSON.stringify([
    metadata.generation,
    metadata.deletionTimestamp,
    annotations[pausedAnnotation] !== undefined,
    annotations[injectCaFromSecretAnnotation],
    status?.handlers,
    status?.conditions?.filter(({ type }) => type === 'Discovered' || type === 'Paused'),
    status?.deprecated?.v1beta1?.conditions?.filter(({ type }) => type === 'Discovered'),
  ]);
}

/** Discovers extensions, writes their status, and registers their handlers. */
export function createDiscoverWorker(options: DiscoverWorkerOptions): Worker {
  const { cluster, client, events, log, now, resyncMs } = options;
  const own = createOwnWrites(fingerprintOf);
  const store = createConfigStore(cluster, own.wrote);
  /** The last log entry for each ExtensionConfig, so that a failure is not logged at every retry. */
  const said = new Map<string, string>();

  return {
    begin(configs) {
      if (!client.registry.isReady) {
        client.registry.warmUp([]);
      }
      for (const { name } of client.registry.extensions) {
        client.registry.remove(name);
      }
      // Handlers that were discovered before remain registered until the next discovery, and also when that fails.
      for (const config of configs) {
        if ((config.status?.handlers?.length ?? 0) > 0 && config.metadata.deletionTimestamp === undefined) {
          client.registry.add(config);
        }
      }
    },
    async run(config, signal): Promise<RunResult> {
      const { name } = config.metadata;
      if (config.metadata.deletionTimestamp !== undefined) {
        client.registry.remove(name);
        return { result: 'done' };
      }
      own.begin(config);
      const { finding, error, handlers } = await discoverConfig(
        config,
        { cluster, store, client, events, now },
        signal,
      );
      const saying = JSON.stringify([finding, error, handlers]);
      if (said.get(name) !== saying) {
        said.set(name, saying);
        const fields = { extensionConfig: name, ...(error === undefined ? { handlers } : { error }) };
        if (error === undefined) {
          log.info(fields, finding === 'paused' ? 'ExtensionConfig is paused' : 'extension discovered');
        } else {
          log.warn(fields, 'extension not discovered');
        }
      }
      if (finding === 'not-discovered') {
        return { result: 'failed' };
      }
      // Spread out: otherwise all extensions would be called in a burst every ten minutes.
      return finding === 'paused'
        ? { result: 'done' }
        : { result: 'done', againMs: resyncMs * (0.9 + Math.random() / 10) };
    },
    isSettled: own.isSettled,
    forget({ metadata }) {
      client.remove(metadata.name);
      own.forget(metadata.name);
      said.delete(metadata.name);
      events.forget(metadata.uid);
    },
    flush: () => events.flush(),
  };
}
