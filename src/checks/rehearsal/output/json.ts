import { printableJson } from '../../../base/index.ts';
import type { Entry } from '../record.ts';

/**
 * An entry as a line of JSON: a record for each call, one for each change of the condition TopologyReconciled, and one
 * with `end` for each Cluster. Undefined for other entries.
 */
export function jsonLine(entry: Entry): string | undefined {
  const { cluster, at } = entry;
  if (entry.type === 'event') {
    const { event } = entry;
    if (event.kind !== 'condition') {
      return undefined;
    }
    const { status, reason, message } = event;
    const condition = { type: 'TopologyReconciled', status, reason, message };
    return `${printableJson({ cluster, seconds: at / 1000, condition })}\n`;
  }
  if (entry.type === 'end') {
    const { isComplete, reason, calls } = entry;
    const end = isComplete ? 'complete' : 'incomplete';
    return `${printableJson({ cluster, seconds: at / 1000, end, ...(reason !== '' && { reason }), calls })}\n`;
  }
  const { type: _, number, hook, pendingHooks, call, cluster: _cluster, at: _at, ...about } = entry;
  const { status, message, retryAfterSeconds, error, handler } = call;
  const record = {
    ...{ cluster, call: number, seconds: at / 1000, hook, handler, ...about, status, retryAfterSeconds },
    message: message === '' ? undefined : message,
    error: error === '' ? undefined : error,
    pendingHooks,
  };
  return `${printableJson(record)}\n`;
}
