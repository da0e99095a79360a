import { type Json, textAt } from '../../kubernetes/index.ts';
import { badRequest, unavailable } from '../resources/errors.ts';
import type { Resource } from '../resources/resource.ts';
import type { AdmissionAttempt, AdmissionContext } from '../webhooks/admission.ts';

export interface WriteContext extends AdmissionContext {
  /** The current time as metav1.Time is serialized. */
  now(): string;
  /** How long requests for the objects of a new definition get a 429, in milliseconds. */
  initializing: number;
  /** Whether requests in flight get a 503 when the definition of their resource changes. */
  interrupts: boolean;
}

/**
 * Checks that the definition of a resource has not changed since its request began: a kube-apiserver replaces the storage
 * of a changed definition, and requests that are using the old one fail.
 *
 * @throws {RequestError} 503.
 */
export function checkUnchanged({ interrupts, registry }: WriteContext, resource: Resource): void {
  if (interrupts && registry.find(resource.group, resource.version, resource.plural) !== resource) {
    throw unavailable(`the definition of ${resource.storage} has changed; please try again`);
  }
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

/** Checks a value of the options of a request. @throws {RequestError} 400 for one that is not supported. */
export function checkOption(field: string, value: unknown, supported: readonly string[]): void {
  if (!supported.includes(String(value))) {
    const list = supported.map((one) => JSON.stringify(one)).join(', ');
    throw badRequest(`${field}: Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`);
  }
}

/** Whether the request is a dry run; `more` are values from its body. @throws {RequestError} 400 for one other than `All`. */
export function isDryRun(query: URLSearchParams, more: readonly Json[] = []): boolean {
  const values = [...query.getAll('dryRun'), ...more].filter((value) => value !== '');
  for (const value of values) {
    checkOption('dryRun', value, ['All']);
  }
  return values.length > 0;
}

export function attemptOf(
  request: WriteRequest,
  fields: Pick<AdmissionAttempt, 'operation' | 'object' | 'oldObject' | 'options' | 'dryRun' | 'complete'>,
): AdmissionAttempt {
  const { resource, subresource, namespace, warn } = request;
  const name = textAt(fields.object ?? fields.oldObject, 'metadata', 'name');
  return { resource, subresource, namespace, name, warn, ...fields };
}
