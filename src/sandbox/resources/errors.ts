import { failure, invalid, type Status, type StatusCause } from '../../kubernetes/index.ts';
import { maxCauses } from '../../kubernetes/schema/index.ts';
import type { Resource } from './resource.ts';

/** A request that failed, with the metav1.Status for the client. */
export class RequestError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'failed');
    this.status = status;
  }
}

type Named = Pick<Resource, 'group' | 'plural' | 'kind'>;

/** A failure with a code, its reason, a message and details. */
export const failed = (...given: Parameters<typeof failure>) => new RequestError(failure(...given));

/** An error about an object, which `text` is told how to name. */
function failedFor(
  [code, reason]: [number, string],
  { group, plural }: Named,
  name: string,
  text: (object: string) => string,
  details: { causes?: StatusCause[] } = {},
): RequestError {
  const message = text(`${group === '' ? plural : `${plural}.${group}`} ${JSON.stringify(name)}`);
  return failed(code, reason, message, { name, ...(group === '' ? {} : { group }), kind: plural, ...details });
}

export const notFound = (resource: Named, name: string): RequestError =>
  failedFor([404, 'NotFound'], resource, name, (object) => `${object} not found`);

export const alreadyExists = (resource: Named, name: string): RequestError =>
  failedFor([409, 'AlreadyExists'], resource, name, (object) => `${object} already exists`);

/** 409: the object has changed since the client read it, or a precondition is not met. */
export function conflict(
  resource: Named,
  name: string,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
): RequestError {
  return failedFor([409, 'Conflict'], resource, name, (it) => `Operation cannot be fulfilled on ${it}: ${why}`);
}

/** 409: the object is not the one that the client means. */
export function preconditionFailed(resource: Named, name: string, field: string, wanted: unknown, actual: unknown) {
  const why = `${field} in precondition: ${String(wanted)}, ${field} in object meta: ${String(actual)}`;
  return conflict(resource, name, `Precondition failed: ${why}`);
}

export const badRequest = (message: string): RequestError => failed(400, 'BadRequest', message);

export const forbidden = (resource: Named, name: string, why: string, causes?: StatusCause[]): RequestError =>
  failedFor([403, 'Forbidden'], resource, name, (object) => `${object} is forbidden: ${why}`, causes && { causes });

export function unsupportedMediaType(accepted: readonly string[]): RequestError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return failed(415, 'UnsupportedMediaType', message);
}

export const tooLarge = (why: string): RequestError =>
  failed(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`, { causes: [] });

/** 500 for an external failure, such as a webhook that cannot be reached. */
export const internalError = (message: string): RequestError =>
  failed(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ reason: '', message }] });

/** 422 for invalid fields of an object: the first of the causes. */
export const invalidObject = (resource: Named, name: string, causes: StatusCause[]): RequestError =>
  new RequestError(invalid(resource.group, resource.kind, name, causes.slice(0, maxCauses)));

/** 422 for an update without a resource version. The real API server names the resource here, not the kind. */
export function versionRequired({ group, plural }: Named, name: string): RequestError {
  const message = 'Invalid value: 0: must be specified for an update';
  const cause: StatusCause = { reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' };
  return new RequestError(invalid(group, plural, name, [cause]));
}
