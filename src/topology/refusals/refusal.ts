import {
  groupOf,
  invalid,
  type JsonObject,
  nameOf,
  objectText,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import type { Problem } from '../world/plan-document.ts';
import { denial, invalidText, webhookOf } from '../world/webhook-refusal.ts';

/** How an API server, or a webhook that it asks, refuses to write an object: the parts of its metav1.Status. */
export interface Refusal {
  /** The HTTP status code: 400, 403 or 422. */
  code: number;
  /** One of metav1.StatusReason: `Invalid`, `BadRequest`, `Forbidden`; empty where a webhook gives none. */
  reason: string;
  /** In the words of the API server, as kubectl prints it. */
  message: string;
  /** One for each field at fault; none where the object could not be read. */
  causes: readonly StatusCause[];
  /** The remedy, if it is known. */
  remedy?: string;
}

/** The refusal of an object for its invalid fields: 422, `Cluster.cluster.x-k8s.io "f1" is invalid: …`. */
export function invalidFields(object: JsonObject, causes: StatusCause[]): Refusal {
  const { code, message = '' } = invalid(groupOf(object), textAt(object, 'kind'), nameOf(object), causes);
  return { code, reason: 'Invalid', message, causes };
}

/** A cause on one line: `spec.replicas: Forbidden: …`. */
export const causeLine = ({ field = '', message }: StatusCause): string => `${field}: ${message}`;

/**
 * The refusal of an object by a webhook of Cluster API for its invalid fields; undefined without any.
 *
 * @param group the one that the webhook writes, where that is not the object's.
 */
export function webhookRefusal(
  object: JsonObject,
  webhook: 'default' | 'validation',
  causes: readonly StatusCause[],
  group?: string,
): Refusal | undefined {
  if (causes.length === 0) {
    return undefined;
  }
  const message = denial(webhookOf(object, webhook), invalidText(object, causes.map(causeLine), group));
  return { code: 422, reason: 'Invalid', message, causes };
}

/** A plan's text for a refusal by Cluster API's webhooks: each cause once, or the message if there are none. */
export function refusalProblem(object: JsonObject, { message, causes, remedy }: Refusal): Problem {
  const reasons = causes.length === 0 ? message : [...new Set(causes.map(causeLine))].join('; ');
  const text = `Cluster API refuses ${objectText(object)}: ${reasons}`;
  return { text, ...(remedy !== undefined && { remedy }) };
}
