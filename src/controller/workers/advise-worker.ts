import { pausedAnnotation } from '../../extensionconfig/index.ts';
import { type Condition, conditionOf, withConditions } from '../configs/status.ts';
import type { StoredConfig } from '../configs/stored.ts';
import { hookVersionsCondition, hookVersionsSupported } from './hook-versions.ts';
import type { Worker, WritingContext } from './worker.ts';

/** The parts of an object that the condition depends on. */
function fingerprintOf({ metadata, status }: StoredConfig): string {
  return JSON.stringify([
    metadata.generation,
    metadata.annotations?.[pausedAnnotation] !== undefined,
    status?.handlers,
    conditionOf(status, 'Discovered')?.status,
  ]);
}

/** Writes one condition: whether the targeted release of Cluster API supports the hook versions of all handlers. */
export function createAdviseWorker({ events, known, log, now, pace, store }: WritingContext): Worker {
  /** Only changes are logged and reported as events. */
  function reportChange(
    config: StoredConfig,
    before: string | undefined,
    { status, reason, message }: Condition,
  ): void {
    const extensionConfig = config.metadata.name;
    if (status === 'False') {
      events.record(config, { type: 'Warning', reason, message });
      log.warn({ extensionConfig, reason, message }, 'hook versions are not supported');
    } else if (status === 'True' && before === 'False') {
      events.record(config, { type: 'Normal', reason, message: 'the targeted release supports all hook versions' });
      log.info({ extensionConfig }, 'all hook versions are supported again');
    }
  }

  return {
    fingerprintOf,
    async run(config) {
      const isPaused = config.metadata.annotations?.[pausedAnnotation] !== undefined;
      if (isPaused || config.metadata.deletionTimestamp !== undefined) {
        return { result: 'done' };
      }
      const condition = hookVersionsCondition(config, known);
      const before = conditionOf(config.status, hookVersionsSupported);
      const { generation } = config.metadata;
      const after = await store.writeStatus(config, (status) => ({
        ...status,
        conditions: withConditions(status?.conditions, [condition], generation, now()),
      }));
      if (before?.status !== condition.status || before?.message !== condition.message) {
        reportChange(after, before?.status, condition);
      }
      // Another client may have removed it.
      return { result: 'done', againMs: pace.resyncMs };
    },
    forget() {},
    flush: () => events.flush(),
  };
}
