import { groupOf, type JsonObject, nameOf, objectText, type StatusCause, textAt } from '../../kubernetes/index.ts';
import { maxCauses } from '../../kubernetes/schema/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import type { Problem } from './plan-document.ts';

/** How an API server, or a webhook that it asks, refuses to write an object: the parts of its metav1.Status. */
export interface Refusal {
  /** The HTTP status code. */
  code: number;
  /** One of metav1.StatusReason; empty where a webhook gives none. */
  reason: string;
  /** In the words of the API server, as kubectl prints it. */
  message: string;
  /** One for each field at fault; none where the object could not be read. */
  causes: readonly StatusCause[];
  remedy?: string;
}

/** What an API server says of a write that a webhook denies. */
export const denial = (webhook: string, text: string): string =>
  `admission webhook ${JSON.stringify(webhook)} denied the request: ${text}`;

/** The name of Cluster API's webhook for an object. */
export const webhookOf = (object: JsonObject, webhook: 'default' | 'validation'): string =>
  `${webhook}.${textAt(object, 'kind').toLowerCase()}.${groupOf(object)}`;

/** `Cluster.cluster.x-k8s.io "f1" is invalid: …`. `group`: the one that a webhook writes, where that is not the object's. */
export const invalidText = (object: JsonObject, problems: readonly string[], group = groupOf(object)): string =>
  `${textAt(object, 'kind')}.${group} ${JSON.stringify(nameOf(object))} is invalid: ${aggregate(problems)}`;

/** A cause on one line: `spec.replicas: Forbidden: …`. */
export const causeLine = ({ field = '', message }: StatusCause): string => `${field}: ${message}`;

/** The refusal of an object by a webhook of Cluster API for its invalid fields; undefined without any. `group` is as for `invalidText`. */
export function webhookRefusal(
  object: JsonObject,
  webhook: 'default' | 'validation',
  found: Iterable<StatusCause>,
  group?: string,
): Refusal | undefined {
  const causes = Iterator.from(found).take(maxCauses).toArray();
  const message = denial(webhookOf(object, webhook), invalidText(object, causes.map(causeLine), group));
  return causes.length === 0 ? undefined : { code: 422, reason: 'Invalid', message, causes };
}

/** A plan's text for a refusal by Cluster API's webhooks: each cause once, or the message if there are none. */
export function refusalProblem(object: JsonObject, { message, causes, remedy }: Refusal): Problem {
  const reasons = causes.length === 0 ? message : [...new Set(causes.map(causeLine))].join('; ');
  const text = `Cluster API refuses ${objectText(object)}: ${reasons}`;
  return { text, ...(remedy !== undefined && { remedy }) };
}
