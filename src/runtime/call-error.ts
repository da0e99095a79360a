/**
 * The step at which a call ended. Up to `convert`, nothing was sent; `connect` to `decode` are about the exchange, and
 * the only ones that failurePolicy `Ignore` is for; `status` is an answer of the extension.
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

/** Why a call failed: a value, in the words that users know from conditions. */
export interface CallError {
  step: CallStep;
  /** One line; text from servers is truncated and has no control characters. */
  message: string;
  /** Status code of the answer, if there was one. */
  code?: number;
}

/** The same error with more of what was tried. */
export function prefixed(prefix: string, error: CallError): CallError {
  return { ...error, message: `${prefix}: ${error.message}` };
}

/** What `Ignore` is for: the extension could not be reached, or did not answer as an HTTP server should. */
const exchangeSteps: ReadonlySet<CallStep> = new Set([
  'backoff',
  'connect',
  'tls',
  'timeout',
  'http',
  'size',
  'decode',
]);

/**
 * Whether failurePolicy `Ignore` swallows a failure. A misconfiguration and an answer `Failure` are never swallowed.
 */
export function isIgnorable({ step }: CallError): boolean {
  return exchangeSteps.has(step);
}

/** Longest piece of a server's text in an error, in characters. */
const maxQuote = 512;

/** Longest message of an extension in an error, in characters. */
export const maxMessage = 4096;

/** Text from a server as part of an error: truncated, and without control characters. */
export function quotable(text: string, longest = maxQuote): string {
  return text.slice(0, longest).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}
