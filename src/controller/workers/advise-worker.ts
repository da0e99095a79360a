import { pausedAnnotation } from '../../extensionconfig/index.ts';
import { conditionOf, withConditions } from '../configs/status.ts';
import { hookVersionsCondition, hookVersionsSupported } from './hook-versions.ts';
import type { Worker, WritingContext } from './worker.ts';

/** Writes one condition: whether the targeted release of Cluster API supports the hook versions of all handlers. */
export function createAdviseWorker({ events, known, now, pace, store }: WritingContext): Worker {
  return {
    fingerprintOf: ({ metadata, status }) =>
      JSON.stringify([
        metadata.annotations?.[pausedAnnotation] !== undefined,
        status?.handlers,
        conditionOf(status, 'Discovered')?.status,
      ]),
    async run(config) {
      if (config.metadata.annotations?.[pausedAnnotation] !== undefined) {
        return { result: 'done' };
      }
      const condition = hookVersionsCondition(config, known);
      const { status, reason, message } = condition;
      const before = conditionOf(config.status, hookVersionsSupported);
      const { generation } = config.metadata;
      const conditions = withConditions(config.status?.conditions, [condition], generation, now());
      const after = await store.writeStatus(config, { ...config.status, conditions });
      if (status === 'False' && (before?.status !== status || before.message !== message)) {
        events.record(after, { type: 'Warning', reason, message });
      } else if (status === 'True' && before?.status === 'False') {
        events.record(after, { type: 'Normal', reason, message: 'the targeted release supports all hook versions' });
      }
      // Another client may have removed it.
      return { result: 'done', againMs: pace.resyncMs };
    },
    forget() {},
    flush: () => events.flush(),
  };
}
