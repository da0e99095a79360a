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

/** Since when a condition has its status. */
function transitionTime(
  before: { status?: string; lastTransitionTime?: string } | undefined,
  status: string,
  now: Date,
): string {
  return (before?.status === status ? before.lastTransitionTime : undefined) ?? timeText(now);
}

/**
 * The conditions with some of them set. A transition time changes only with the status of its condition; conditions of
 * other controllers are preserved.
 *
 * @param generation the generation of the object that the conditions are about.
 */
export function withConditions(
  stored: readonly StoredCondition[] = [],
  set: readonly Condition[],
  generation: number,
  now: Date,
): StoredCondition[] {
  const types = new Set(set.map(({ type }) => type));
  const known = new Map(stored.map((condition) => [condition.type, condition]));
  return byType([
    ...stored.filter(({ type }) => !types.has(type ?? '')),
    ...set.map(({ type, status, reason, message }) => {
      const lastTransitionTime = transitionTime(known.get(type), status, now);
      return {
        type,
        status,
        reason,
        message: cut(message, maxMessage),
        observedGeneration: generation,
        lastTransitionTime,
      };
    }),
  ]);
}

/** As {@link withConditions}, for a condition of the v1beta1 contract. */
export function withV1Beta1Condition(
  stored: readonly StoredV1Beta1Condition[] = [],
  { message, ...condition }: V1Beta1Condition,
  now: Date,
): StoredV1Beta1Condition[] {
  const before = stored.find(({ type }) => type === condition.type);
  return byType([
    ...stored.filter(({ type }) => type !== condition.type),
    {
      ...condition,
      ...(message === undefined ? {} : { message: cut(message, maxV1Beta1Message) }),
      lastTransitionTime: transitionTime(before, condition.status, now),
    },
  ]);
}

/** The condition of a type, if there is one. */
export function conditionOf(status: ExtensionConfigStatus | undefined, type: string): StoredCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
