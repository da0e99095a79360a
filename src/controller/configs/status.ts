import { type ExtensionConfig, pausedAnnotation } from '../../extensionconfig/index.ts';
import { timeText } from '../../kubernetes/index.ts';
import type { DiscoveredHandler } from '../../runtimehooks/client/index.ts';

/** The status of an ExtensionConfig. */
export type ExtensionConfigStatus = NonNullable<ExtensionConfig['status']>;
type StoredCondition = NonNullable<ExtensionConfigStatus['conditions']>[number];
type StoredV1Beta1Condition = NonNullable<
  NonNullable<NonNullable<ExtensionConfigStatus['deprecated']>['v1beta1']>['conditions']
>[number];

/** A condition to write, without its time and generation. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** A condition of the v1beta1 contract; one that is True has no reason. */
interface V1Beta1Condition {
  type: string;
  status: 'True' | 'False';
  severity?: 'Error' | 'Warning' | 'Info';
  reason?: string;
  message?: string;
}

/** Longest message that the CRD allows, in characters, in both kinds of conditions. */
const maxMessage = 32_768;
const maxV1Beta1Message = 10_240;

/**
 * Truncates without splitting a surrogate pair: half a pair would be stored as another character, and the status would
 * be rewritten forever.
 */
const cut = (text: string, longest: number) =>
  (text.length > longest ? `${text.slice(0, longest - 1)}…` : text).toWellFormed();

/** Cluster API's order: by type, with Paused at the end. */
function byType<T extends { type?: string }>(conditions: readonly T[]): T[] {
  const rank = ({ type = '' }: T) => (type === 'Paused' ? 1 : 0);
  return conditions.toSorted(
    (a, b) => rank(a) - rank(b) || ((a.type ?? '') < (b.type ?? '') ? -1 : a.type === b.type ? 0 : 1),
  );
}

/** Conditions with some of them set. The others, of other controllers, are preserved. */
function withSet<T extends { type?: string; status?: string; lastTransitionTime?: string }>(
  stored: readonly T[],
  set: readonly T[],
  now: Date,
): T[] {
  const known = new Map(stored.map((condition) => [condition.type, condition]));
  for (const condition of set) {
    const before = known.get(condition.type);
    const since = before?.status === condition.status ? before?.lastTransitionTime : undefined;
    known.set(condition.type, { ...condition, lastTransitionTime: since ?? timeText(now) });
  }
  return byType([...known.values()]);
}

/**
 * The conditions with some of them set. A transition time changes only with the status of its condition.
 *
 * @param generation the generation of the object that the conditions are about.
 */
export function withConditions(
  stored: readonly StoredCondition[] = [],
  set: readonly Condition[],
  generation: number,
  now: Date,
): StoredCondition[] {
  const observed = set.map((condition) => ({
    ...condition,
    message: cut(condition.message, maxMessage),
    observedGeneration: generation,
  }));
  return withSet(stored, observed, now);
}

/** As {@link withConditions}, for a condition of the v1beta1 contract. */
function withV1Beta1Condition(
  stored: readonly StoredV1Beta1Condition[] = [],
  { message, ...condition }: V1Beta1Condition,
  now: Date,
): StoredV1Beta1Condition[] {
  return withSet(stored, [{ ...condition, ...(message && { message: cut(message, maxV1Beta1Message) }) }], now);
}

/** The condition of a type, if there is one. */
export function conditionOf(status: ExtensionConfigStatus | undefined, type: string): StoredCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

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
