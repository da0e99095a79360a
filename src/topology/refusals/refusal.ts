import { invalid, type JsonObject, type StatusCause, textAt } from '../../kubernetes/index.ts';
import { groupOf, nameOf } from '../world/objects.ts';

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
  /** What to do about it, if that is known. */
  remedy?: string;
}

/** The refusal of an object for its invalid fields: 422, `Cluster.cluster.x-k8s.io "f1" is invalid: …`. */
export function invalidFields(object: JsonObject, causes: StatusCause[]): Refusal {
  const { code, message = '' } = invalid(groupOf(object), textAt(object, 'kind'), nameOf(object), causes);
  return { code, reason: 'Invalid', message, causes };
}
