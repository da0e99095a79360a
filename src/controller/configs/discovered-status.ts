import type { DiscoveredHandler } from '../../runtimehooks/client/index.ts';
import { type Condition, type ExtensionConfigStatus, withConditions, withV1Beta1Condition } from './conditions.ts';

/** The result of a run for an extension. */
export type RunFinding =
  | { kind: 'paused' }
  | { kind: 'discovered'; handlers: readonly DiscoveredHandler[] }
  | { kind: 'not-discovered'; error: string };

const discoveredType = 'Discovered';
const pausedType = 'Paused';

/** Cluster API's annotation that stops reconciliation, whatever its value. */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';

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

function conditionsOf(finding: RunFinding): Condition[] {
  const paused: Condition =
    finding.kind === 'paused'
      ? {
          type: pausedType,
          status: 'True',
          reason: 'Paused',
          message: `ExtensionConfig has the ${pausedAnnotation} annotation`,
        }
      : { type: pausedType, status: 'False', reason: 'NotPaused', message: '' };
  switch (finding.kind) {
    case 'paused':
      return [paused];
    case 'discovered':
      return [{ type: discoveredType, status: 'True', reason: 'Discovered', message: '' }, paused];
    case 'not-discovered': {
      const message = `Error in discovery: ${finding.error}`;
      return [{ type: discoveredType, status: 'False', reason: 'NotDiscovered', message }, paused];
    }
  }
}

/**
 * The status for a result (core/reconcilers/extensionconfig/extensionconfig_controller.go, v1.14): conditions of both
 * kinds, and the handlers, which remain when discovery fails. Fields and conditions of other controllers are preserved.
 */
export function discoveredStatus(
  stored: ExtensionConfigStatus | undefined,
  finding: RunFinding,
  generation: number,
  now: Date,
): ExtensionConfigStatus {
  const status: ExtensionConfigStatus = {
    ...stored,
    conditions: withConditions(stored?.conditions, conditionsOf(finding), generation, now),
  };
  if (finding.kind === 'paused') {
    return status;
  }
  const isDiscovered = finding.kind === 'discovered';
  status.deprecated = {
    ...stored?.deprecated,
    v1beta1: {
      ...stored?.deprecated?.v1beta1,
      conditions: withV1Beta1Condition(
        stored?.deprecated?.v1beta1?.conditions,
        isDiscovered
          ? { type: discoveredType, status: 'True' }
          : {
              type: discoveredType,
              status: 'False',
              severity: 'Error',
              reason: 'DiscoveryFailed',
              message: `Error in discovery: ${finding.error}`,
            },
        now,
      ),
    },
  };
  if (isDiscovered) {
    const handlers = inKnownOrder(stored?.handlers, finding.handlers);
    if (handlers.length > 0) {
      status.handlers = handlers;
    } else {
      // Go omits an empty list.
      delete status.handlers;
    }
  }
  return status;
}
