import { type JsonObject, objectsAt } from '../../kubernetes/index.ts';

export interface Condition {
  type: string;
  status: 'True' | 'False';
  reason: string;
  message: string;
}

export function condition(type: string, status: Condition['status'], reason: string, message: string): Condition {
  return { type, status, reason, message };
}

export function conditionsOf(object: JsonObject): JsonObject[] {
  return objectsAt(object, 'status', 'conditions');
}

export function isConditionTrue(object: JsonObject, type: string): boolean {
  return conditionsOf(object).some((condition) => condition.type === type && condition.status === 'True');
}

/** The conditions with one of them set; its transition time changes only with its status. */
export function withCondition(conditions: readonly JsonObject[], next: Condition, now: string): JsonObject[] {
  const old = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime = old?.status === next.status ? (old.lastTransitionTime ?? now) : now;
  const changed: JsonObject = { lastTransitionTime, ...next };
  return old === undefined ? [...conditions, changed] : conditions.map((known) => (known === old ? changed : known));
}
