import { type JsonObject, objectsAt } from '../../kubernetes/index.ts';

/** The conditions in an object's status. */
export function conditionsOf(object: JsonObject): JsonObject[] {
  return objectsAt(object, 'status', 'conditions');
}

/** Whether a condition has status True. */
export function isConditionTrue(object: JsonObject, type: string): boolean {
  return conditionsOf(object).some((condition) => condition.type === type && condition.status === 'True');
}

/** The conditions with one of them set; its transition time changes only with its status. */
export function withCondition(
  conditions: readonly JsonObject[],
  next: { type: string; status: 'True' | 'False'; reason: string; message: string; lastUpdateTime?: string },
  now: string,
): JsonObject[] {
  const old = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? (old.lastTransitionTime ?? now) : now;
  const condition: JsonObject = { lastTransitionTime, ...next };
  return old === undefined
    ? [...conditions, condition]
    : conditions.map((known) => (known === old ? condition : known));
}
