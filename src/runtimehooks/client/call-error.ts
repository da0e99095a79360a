/**
 * The step at which a call failed. Up to `convert`, nothing was sent; `connect` to `decode` concern the exchange, and
 * are the only ones that failurePolicy `Ignore` applies to; `status` is an answer of the extension.
 */
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

/** Why a call failed: a value, worded as users know it from conditions. */
export interface CallError {
  step: CallStep;
  /** One line; text from servers is truncated and contains no control characters. */
  message: string;
  /** HTTP status code of the response, if there was one. */
  code?: number;
}

/** Whether a result of the registry or of a call is an error. */
export function isCallError(value: unknown): value is CallError {
  return typeof value === 'object' && value !== null && 'step' in value && 'message' in value;
}

/** The same error with context in front of the message. */
export function prefixed(prefix: string, error: CallError): CallError {
  return { ...error, message: `${prefix}: ${error.message}` };
}

/** Messages as Kubernetes joins them (`NewAggregate` of apimachinery): one as it is, several in brackets, equal ones once. */
export function aggregate(messages: readonly string[]): string {
  const different = [...new Set(messages)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}

/**
 * The steps that `Ignore` applies to: the extension could not be reached, or did not respond as an HTTP server should.
 */
const exchangeSteps: ReadonlySet<CallStep> = new Set([
  'backoff',
  'connect',
  'tls',
  'timeout',
  'http',
  'size',
  'decode',
]);

/** Whether failurePolicy `Ignore` suppresses a failure. Misconfiguration and the answer `Failure` are never ignored. */
export function isIgnorable({ step }: CallError): boolean {
  return exchangeSteps.has(step);
}

/** Longest quote of a server's text in an error, in characters. */
const maxQuote = 512;

/** Longest message of an extension in an error, in characters. */
export const maxMessage = 4096;

/** Text from a server for use in an error: truncated, and without control characters. */
export function quotable(text: string, longest = maxQuote): string {
  return text.slice(0, longest).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}
