import { truncated } from '../../base/index.ts';
import { type CauseReason, fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';

/** Maximum number of causes that a response lists; further ones are not looked for. */
export const maxCauses = 500;

/** A value in a message, truncated after 4,096 characters. */
export const shorten = (text: string): string => truncated(text, 4_096);

/** The problem of a field, in the API server's words. The value is shown as truncated JSON; undefined is not shown. */
export function causeOf(reason: CauseReason, field: string, value: unknown, detail: string): StatusCause {
  const shown = value === undefined ? undefined : shorten(JSON.stringify(value));
  return { reason, message: fieldErrorMessage(reason, shown, detail), field };
}

export function required(field: string, detail = ''): StatusCause {
  return causeOf('FieldValueRequired', field, undefined, detail);
}

export function invalid(field: string, value: unknown, detail: string): StatusCause {
  return causeOf('FieldValueInvalid', field, value ?? null, detail);
}

export function forbiddenField(field: string, detail: string): StatusCause {
  return causeOf('FieldValueForbidden', field, undefined, detail);
}

export function duplicate(field: string, value: unknown): StatusCause {
  return causeOf('FieldValueDuplicate', field, value ?? null, '');
}

export function notSupported(field: string, value: unknown, allowed: readonly string[]): StatusCause {
  const list = allowed.map((name) => JSON.stringify(name)).join(', ');
  return causeOf('FieldValueNotSupported', field, value, `supported values: ${list}`);
}

/** The causes among what was looked for. */
export const found = (...causes: readonly (StatusCause | false)[]): StatusCause[] =>
  causes.filter((cause) => cause !== false);
