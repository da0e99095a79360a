import { type ExtensionConfig, pausedAnnotation } from '../../extensionconfig/index.ts';
import { timeText } from '../../kubernetes/index.ts';
import type { DiscoveredHandler } from '../../runtimehooks/client/index.ts';

export type ExtensionConfigStatus = NonNullable<ExtensionConfig['status']>;
type StoredCondition = NonNullable<ExtensionConfigStatus['conditions']>[number];

interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** Longest message that the CRD allows, in characters, in both kinds of conditions. */
const maxMessage = 32_768;
const maxV1Beta1Message = 10_240;

/** Half a surrogate pair would be stored as another character, and the status rewritten forever. */
const cut = (text: string, longest: number) =>
  (text.length > longest ? `${text.slice(0, longest - 1)}…` : text).toWellFormed();

/** Conditions with some of them set, in Cluster API's order. A transition time changes with the status of its condition. */
function withSet<T extends { type?: string; status?: string; lastTransitionTime?: string }>(
  stored: readonly T[] = [],
  set: readonly T[],
  now: Date,
): T[] {
  const byType = new Map(stored.map((condition) => [condition.type ?? '', condition]));
  for (const condition of set) {
    const before = byType.get(condition.type ?? '');
    const since = before?.status === condition.status ? before?.lastTransitionTime : undefined;
    byType.set(condition.type ?? '', { ...condition, lastTransitionTime: since ?? timeText(now) });
  }
  const isPaused = (type: string) => Number(type === 'Paused');
  const sorted = [...byType].sort(([a], [b]) => isPaused(a) - isPaused(b) || (a < b ? -1 : 1));
  return sorted.map(([, condition]) => condition);
}

export function conditionOf(status: ExtensionConfigStatus | undefined, type: string): StoredCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

export type RunFinding =
  | { kind: 'paused' }
  | { kind: 'discovered'; handlers: readonly DiscoveredHandler[] }
  | { kind: 'not-discovered'; error: string };

/** New handlers come last. Cluster API's own extension server has another order after each start. */
function inKnownOrder(known: ExtensionConfigStatus['handlers'] = [], discovered: readonly DiscoveredHandler[]) {
  const places = new Map(known.map(({ name }, index) => [name, index]));
  const placeOf = ({ name }: DiscoveredHandler) => places.get(name) ?? known.length;
  return discovered.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** The status as Cluster API writes it. Handlers remain when discovery fails, and so do fields of other controllers. */
export function discoveredStatus(
  stored: ExtensionConfigStatus = {},
  finding: RunFinding,
  generation: number,
  now: Date,
): ExtensionConfigStatus {
  const set = (...conditions: Condition[]) => {
    const observed = conditions.map((condition) => ({
      ...condition,
      message: cut(condition.message, maxMessage),
      observedGeneration: generation,
    }));
    return withSet<StoredCondition>(stored.conditions, observed, now);
  };
  if (finding.kind === 'paused') {
    const message = `ExtensionConfig has the ${pausedAnnotation} annotation`;
    return { ...stored, conditions: set({ type: 'Paused', status: 'True', reason: 'Paused', message }) };
  }
  const notPaused: Condition = { type: 'Paused', status: 'False', reason: 'NotPaused', message: '' };
  const type = 'Discovered';
  const { deprecated } = stored;
  const withV1Beta1 = (condition: object) => ({
    ...deprecated,
    v1beta1: {
      ...deprecated?.v1beta1,
      conditions: withSet(deprecated?.v1beta1?.conditions, [{ type, ...condition }], now),
    },
  });
  if (finding.kind === 'not-discovered') {
    const message = `Error in discovery: ${finding.error}`;
    const failed = { status: 'False', severity: 'Error', reason: 'DiscoveryFailed' };
    return {
      ...stored,
      conditions: set({ type, status: 'False', reason: 'NotDiscovered', message }, notPaused),
      deprecated: withV1Beta1({ ...failed, message: cut(message, maxV1Beta1Message) }),
    };
  }
  const { handlers: known, ...others } = stored;
  const handlers = inKnownOrder(known, finding.handlers);
  return {
    ...others,
    conditions: set({ type, status: 'True', reason: 'Discovered', message: '' }, notPaused),
    deprecated: withV1Beta1({ status: 'True' }),
    // Go omits an empty list.
    ...(handlers.length > 0 && { handlers }),
  };
}
