import { failure, invalid, type Status, type StatusCause } from '../../kubernetes/index.ts';
import { maxCauses } from '../../kubernetes/schema/index.ts';
import type { Resource } from './resource.ts';

/** A request that failed: contains the metav1.Status for the client. */
export class RequestError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'failed');
    this.status = status;
  }
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'>;

function qualified(resource: Named): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

function about(resource: Named, name: string) {
  return { name, ...(resource.group === '' ? {} : { group: resource.group }), kind: resource.plural };
}

export function notFound(resource: Named, name: string): RequestError {
  const message = `${qualified(resource)} ${JSON.stringify(name)} not found`;
  return new RequestError(failure(404, 'NotFound', message, about(resource, name)));
}

export function alreadyExists(resource: Named, name: string): RequestError {
  const message = `${qualified(resource)} ${JSON.stringify(name)} already exists`;
  return new RequestError(failure(409, 'AlreadyExists', message, about(resource, name)));
}

/** 409: the object has changed since the client read it, or a precondition is not met. */
export function conflict(
  resource: Named,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): RequestError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} ${JSON.stringify(name)}: ${why}`;
  return new RequestError(failure(409, 'Conflict', message, about(resource, name)));
}

/** 409: the object is not the one that the client means. */
export function preconditionFailed(resource: Named, name: string, field: string, wanted: unknown, actual: unknown) {
  const why = `${field} in precondition: ${String(wanted)}, ${field} in object meta: ${String(actual)}`;
  return conflict(resource, name, `Precondition failed: ${why}`);
}

export function badRequest(message: string): RequestError {
  return new RequestError(failure(400, 'BadRequest', message));
}

/** 403: the request is well formed, but not allowed. */
export function forbidden(resource: Named, name: string, why: string, causes?: StatusCause[]): RequestError {
  const message = `${qualified(resource)} ${JSON.stringify(name)} is forbidden: ${why}`;
  const details = causes === undefined ? about(resource, name) : { ...about(resource, name), causes };
  return new RequestError(failure(403, 'Forbidden', message, details));
}

export function unauthorized(): RequestError {
  return new RequestError(failure(401, 'Unauthorized', 'Unauthorized'));
}

/** 405: the resource does not support this method, or not at present. */
export function methodNotAllowed(message: string, details: { group?: string; kind?: string } = {}): RequestError {
  return new RequestError(failure(405, 'MethodNotAllowed', message, details));
}

export function unsupportedMediaType(accepted: readonly string[]): RequestError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new RequestError(failure(415, 'UnsupportedMediaType', message));
}

export function notAcceptable(served: readonly string[]): RequestError {
  const message = `only the following media types are accepted: ${served.join(', ')}`;
  return new RequestError(failure(406, 'NotAcceptable', message));
}

/** 410: the requested version is too old: the history does not go back that far. */
export function expired(message: string): RequestError {
  return new RequestError(failure(410, 'Expired', message));
}

/** 504: the client asks for a resource version that has not been reached yet. */
export function tooLargeVersion(requested: number, current: number): RequestError {
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new RequestError(failure(504, 'Timeout', message, { causes, retryAfterSeconds: 1 }));
}

export function tooLarge(why: string): RequestError {
  return new RequestError(failure(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`, { causes: [] }));
}

/** 500 for an external failure, such as a webhook that cannot be reached. */
export function internalError(message: string): RequestError {
  const causes = [{ reason: '', message }];
  return new RequestError(failure(500, 'InternalError', `Internal error occurred: ${message}`, { causes }));
}

/** 422 for invalid fields of an object: the first of the causes. */
export function invalidObject(resource: Named, name: string, causes: StatusCause[]): RequestError {
  return new RequestError(invalid(resource.group, resource.kind, name, causes.slice(0, maxCauses)));
}

/** 422 for an update without a resource version. The real API server names the resource here, not the kind. */
export function versionRequired(resource: Named, name: string): RequestError {
  const cause: StatusCause = {
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be specified for an update',
    field: 'metadata.resourceVersion',
  };
  return new RequestError(invalid(resource.group, resource.plural, name, [cause]));
}
