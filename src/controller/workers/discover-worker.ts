import { injectCaFromSecretAnnotation, pausedAnnotation } from '../../extensionconfig/index.ts';
import type { RunFinding } from '../configs/discovered-status.ts';
import type { StoredConfig } from '../configs/stored.ts';
import type { RunResult } from '../queue/queue.ts';
import { discoverConfig } from './discover.ts';
import type { Worker, WritingContext } from './worker.ts';

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
export function createDiscoverWorker(context: WritingContext): Worker {
  const { client, events, log, pace } = context;
  /** What was logged last about each ExtensionConfig, so that a failure is not logged at every retry. */
  const lastLogged = new Map<string, string>();

  function logChange(extensionConfig: string, finding: RunFinding, handlers: number): void {
    const entry = JSON.stringify([finding.kind, finding.kind === 'not-discovered' ? finding.error : handlers]);
    if (lastLogged.get(extensionConfig) === entry) {
      return;
    }
    lastLogged.set(extensionConfig, entry);
    if (finding.kind === 'not-discovered') {
      log.warn({ extensionConfig, error: finding.error }, 'extension not discovered');
    } else {
      const message = finding.kind === 'paused' ? 'ExtensionConfig is paused' : 'extension discovered';
      log.info({ extensionConfig, handlers }, message);
    }
  }

  return {
    fingerprintOf,
    begin(configs) {
      client.registry.warmUp([]);
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
      const { finding, after } = await discoverConfig(config, context, signal);
      logChange(name, finding, after.status?.handlers?.length ?? 0);
      switch (finding.kind) {
        case 'not-discovered':
          return { result: 'failed' };
        case 'paused':
          return { result: 'done' };
        case 'discovered':
          // Spread out: otherwise all extensions would be called in a burst every ten minutes.
          return { result: 'done', againMs: pace.resyncMs * (0.9 + Math.random() / 10) };
      }
    },
    forget({ metadata }) {
      client.remove(metadata.name);
      lastLogged.delete(metadata.name);
      events.forget(metadata.uid);
    },
    flush: () => events.flush(),
  };
}
