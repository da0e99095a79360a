import { itemsAt, type Json, type JsonObject, type StatusCause, textAt } from '../../kubernetes/index.ts';
import { causeOf, invalid, notSupported } from '../../kubernetes/schema/index.ts';
import { invalidObject, unavailable } from '../resources/errors.ts';
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

/** Maximum number of bytes of a field manager (apimachinery, FieldManagerMaxLength). */
const maxFieldManager = 128;
/** What Go does not print (unicode.IsPrint). */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

const validations = ['', 'Ignore', 'Strict', 'Warn'];
const policies = ['Foreground', 'Background', 'Orphan'];

function* optionCauses(query: URLSearchParams, body: JsonObject): Generator<StatusCause> {
  const manager = query.get('fieldManager') ?? '';
  if (Buffer.byteLength(manager) > maxFieldManager) {
    yield causeOf('FieldValueTooLong', 'fieldManager', undefined, `may not be more than ${maxFieldManager} bytes`);
  }
  if (unprintable.test(manager)) {
    yield invalid('fieldManager', manager, 'has a character that cannot be printed');
  }
  const dryRun = dryRunOf(query, body);
  if (dryRun.some((value) => value !== 'All')) {
    yield notSupported('dryRun', dryRun, ['All']);
  }
  const validation = query.get('fieldValidation') ?? '';
  if (!validations.includes(validation)) {
    yield notSupported('fieldValidation', validation, validations);
  }
  for (const policy of [query.get('propagationPolicy'), body.propagationPolicy]) {
    if (policy && !policies.includes(String(policy))) {
      yield notSupported('propagationPolicy', policy, policies);
    }
  }
}

/**
 * Checks the options in the query of a write, and in the body of a deletion (apimachinery, meta/v1/validation).
 *
 * @throws {RequestError} 422.
 */
export function checkOptions(
  verb: 'Create' | 'Update' | 'Patch' | 'Delete',
  query: URLSearchParams,
  body: JsonObject = {},
) {
  const causes = [...optionCauses(query, body)];
  if (causes.length > 0) {
    throw invalidObject({ group: 'meta.k8s.io', plural: '', kind: `${verb}Options` }, '', causes);
  }
}

function dryRunOf(query: URLSearchParams, body: JsonObject): Json[] {
  return [...query.getAll('dryRun'), ...itemsAt(body, 'dryRun')].filter((value) => value !== '');
}

/** Whether the options, which have been checked, ask for a dry run. */
export function isDryRun(query: URLSearchParams, body: JsonObject = {}): boolean {
  return dryRunOf(query, body).length > 0;
}

export function attemptOf(
  request: WriteRequest,
  fields: Pick<AdmissionAttempt, 'operation' | 'object' | 'oldObject' | 'options' | 'dryRun' | 'complete'>,
): AdmissionAttempt {
  const { resource, subresource, namespace, warn } = request;
  const name = textAt(fields.object ?? fields.oldObject, 'metadata', 'name');
  return { resource, subresource, namespace, name, warn, ...fields };
}
