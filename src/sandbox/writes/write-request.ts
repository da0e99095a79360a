import { itemsAt, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { badRequest } from '../resources/errors.ts';
import type { Resource } from '../resources/resource.ts';
import type { AdmissionAttempt, AdmissionContext } from '../webhooks/admission.ts';

export interface WriteContext extends AdmissionContext {
  /** The current time as metav1.Time is serialized. */
  now(): string;
}

/** A write of one object, or of a subresource of it. */
export interface WriteRequest {
  resource: Resource;
  namespace: string;
  /** Empty for a creation. */
  name: string;
  /** `status` or empty. */
  subresource: string;
  query: URLSearchParams;
  mediaType: string | undefined;
  body: Uint8Array;
  warn(text: string): void;
}

/** Whether the query of a write, or the body of a deletion, asks for a dry run. @throws {RequestError} 400. */
export function isDryRun(query: URLSearchParams, body: JsonObject = {}): boolean {
  const dryRun = [...query.getAll('dryRun'), ...itemsAt(body, 'dryRun')].filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    throw badRequest('dryRun can only be "All"');
  }
  return dryRun.length > 0;
}

export function attemptOf(
  request: WriteRequest,
  fields: Pick<AdmissionAttempt, 'operation' | 'object' | 'oldObject' | 'options' | 'dryRun' | 'complete'>,
): AdmissionAttempt {
  const { resource, subresource, namespace, warn } = request;
  const name = textAt(fields.object ?? fields.oldObject, 'metadata', 'name');
  return { resource, subresource, namespace, name, warn, ...fields };
}
