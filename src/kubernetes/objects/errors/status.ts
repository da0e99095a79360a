import { truncated } from '../../../base/index.ts';

/** The reasons of metav1.StatusCause that the API server and its webhooks use for fields, and how each begins a message. */
const prefixes = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

export type CauseReason = keyof typeof prefixes;

export interface StatusCause {
  reason: CauseReason | (string & {});
  message: string;
  field?: string;
}

interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** metav1.Status, with which Kubernetes reports how a request ended. `code` is the HTTP status code. */
export interface Status {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: Record<string, unknown>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** A metav1.Status that reports a failure. `code` is the HTTP status code, `reason` one of metav1.StatusReason. */
export function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return {
    ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', message, reason, code },
    ...(details && { details }),
  };
}

/** The metav1.StatusReason of the HTTP status codes that servers refuse requests with. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** The metav1.Status of an HTTP refusal. */
export function refusal(code: number, message: string): Status {
  return failure(code, reasons[code] ?? 'Unknown', message);
}

/** The failure for an object with invalid fields: 422, reason Invalid, with the message of `apierrors.NewInvalid`. */
export function invalid(group: string, kind: string, name: string, causes: StatusCause[]): Status {
  const lines = causes.map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`));
  const list = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const qualifiedKind = group === '' ? kind : `${kind}.${group}`;
  return failure(422, 'Invalid', `${qualifiedKind} ${JSON.stringify(name)} is invalid: ${list}`, {
    name,
    group,
    kind,
    causes,
  });
}

/** A value for a message: as JSON, truncated after 120 characters; `none` if it is absent. */
export function showValue(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(truncated(value, 120));
  }
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? 'an array' : 'an object';
  }
  return value === undefined ? 'none' : String(value);
}

/** A cause's message as Kubernetes' `field.Error` has it: `Invalid value: "x": must be …`; without `shown`, no value. */
export function fieldErrorMessage(reason: CauseReason, shown: string | undefined, detail: string): string {
  const start = shown === undefined ? prefixes[reason] : `${prefixes[reason]}: ${shown}`;
  return detail === '' ? start : `${start}: ${detail}`;
}

/** `fieldErrorMessage` for a value that may be long: it is truncated. */
export function causeMessage(reason: CauseReason, value: unknown, detail: string): string {
  return fieldErrorMessage(reason, value === undefined ? undefined : showValue(value), detail);
}
