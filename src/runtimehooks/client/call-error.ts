/** The step at which a call failed: up to `convert`, nothing was sent; failurePolicy `Ignore` applies to `backoff` to `decode`. */
export type CallStep =
  | 'hook'
  | 'registry'
  | 'selector'
  | 'request'
  | 'url'
  | 'tls-config'
  | 'convert'
  | 'backoff'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'http'
  | 'size'
  | 'decode'
  | 'status'
  | 'validation'
  | 'cancelled';

/** Why a call failed, worded as users know it from conditions. */
export interface CallError {
  step: CallStep;
  /** One line; text from servers is truncated and contains no control characters. */
  message: string;
  /** HTTP status code of the response. */
  code?: number;
}

/** Whether a result of the registry or of a call is an error. */
export function isCallError(value: unknown): value is CallError {
  return typeof value === 'object' && value !== null && 'step' in value && 'message' in value;
}

/** The same error with context in front of the message. */
export const prefixed = (prefix: string, error: CallError): CallError => ({
  ...error,
  message: `${prefix}: ${error.message}`,
});

/** Messages as Kubernetes joins them (`NewAggregate` of apimachinery): one as it is, several in brackets, equal ones once. */
export function aggregate(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}

/** Whether failurePolicy `Ignore` suppresses a failure: not a misconfiguration, and not the answer `Failure`. */
export const isIgnorable = ({ step }: CallError): boolean =>
  ['backoff', 'connect', 'tls', 'timeout', 'http', 'size', 'decode'].includes(step);

/** Longest quote of a server's text in an error, in characters. */
const maxQuote = 512;

/** Longest message of an extension in an error, in characters. */
export const maxMessage = 4096;

/** Text from a server for use in an error: truncated, and without control characters. */
export const quotable = (text: string, longest = maxQuote): string =>
  text.slice(0, longest).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
