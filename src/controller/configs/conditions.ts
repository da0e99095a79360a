import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { timeText } from '../../kubernetes/index.ts';

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
export function withV1Beta1Condition(
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
