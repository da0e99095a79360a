import { pausedAnnotation } from '../../extensionconfig/index.ts';
import type { DiscoveredHandler } from '../../runtimehooks/client/index.ts';
import { type Condition, type ExtensionConfigStatus, withConditions, withV1Beta1Condition } from './conditions.ts';

/** The result of a run for an extension. */
export type RunFinding =
  | { kind: 'paused' }
  | { kind: 'discovered'; handlers: readonly DiscoveredHandler[] }
  | { kind: 'not-discovered'; error: string };

const discoveredType = 'Discovered';
const pausedType = 'Paused';

/**
 * The handlers in the order that the status already has, new ones at the end. Cluster API's own extension server has a
 * different order after each start, which would change the status each time.
 */
function inKnownOrder(
  known: ExtensionConfigStatus['handlers'] = [],
  discovered: readonly DiscoveredHandler[],
): DiscoveredHandler[] {
  const byName = new Map(discovered.map((handler) => [handler.name, handler]));
  const ordered: DiscoveredHandler[] = [];
  for (const { name = '' } of known) {
    const handler = byName.get(name);
    if (handler !== undefined) {
      ordered.push(handler);
      byName.delete(name);
    }
  }
  return [...ordered, ...byName.values()];
}

/**
 * The status for a result, as Cluster API writes it: conditions of both kinds, and the handlers, which remain when
 * discovery fails. Fields and conditions of other controllers are preserved.
 */
export function discoveredStatus(
  stored: ExtensionConfigStatus | undefined,
  finding: RunFinding,
  generation: number,
  now: Date,
): ExtensionConfigStatus {
  const withSet = (...conditions: Condition[]) => withConditions(stored?.conditions, conditions, generation, now);
  if (finding.kind === 'paused') {
    const message = `ExtensionConfig has the ${pausedAnnotation} annotation`;
    return { ...stored, conditions: withSet({ type: pausedType, status: 'True', reason: 'Paused', message }) };
  }
  const type = discoveredType;
  const notPaused: Condition = { type: pausedType, status: 'False', reason: 'NotPaused', message: '' };
  const withV1Beta1 = (condition: Parameters<typeof withV1Beta1Condition>[1]) => ({
    ...stored?.deprecated,
    v1beta1: {
      ...stored?.deprecated?.v1beta1,
      conditions: withV1Beta1Condition(stored?.deprecated?.v1beta1?.conditions, condition, now),
    },
  });
  if (finding.kind === 'not-discovered') {
    const message = `Error in discovery: ${finding.error}`;
    return {
      ...stored,
      conditions: withSet({ type, status: 'False', reason: 'NotDiscovered', message }, notPaused),
      deprecated: withV1Beta1({ type, status: 'False', severity: 'Error', reason: 'DiscoveryFailed', message }),
    };
  }
  const { handlers: known, ...others } = stored ?? {};
  const handlers = inKnownOrder(known, finding.handlers);
  return {
    ...others,
    conditions: withSet({ type, status: 'True', reason: 'Discovered', message: '' }, notPaused),
    deprecated: withV1Beta1({ type, status: 'True' }),
    // Go omits an empty list.
    ...(handlers.length > 0 && { handlers }),
  };
}
