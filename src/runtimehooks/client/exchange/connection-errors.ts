import { withoutNodeHint } from '../../../base/index.ts';
import { type CallError, quotable } from '../call-error.ts';
import type { Target } from './url.ts';

/** How long a TLS handshake may take, in ms (Go: 10 s). */
export const handshakeMs = 10_000;

/** The code of an error of a connection that received more than an answer may have. */
export const tooMuchReceived = 'RECEIVED_TOO_MUCH';

/** Cluster API's text for a call that takes longer than its timeout. */
const timeoutExpired = 'http request timeout expired';

/** Go's texts for system errors, which users know from conditions. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host (the name server did not answer)',
  EPIPE: 'broken pipe',
  // undici's only assertion about what a server sends.
  ERR_ASSERTION: 'malformed HTTP response: its status code is below 100',
  UND_ERR_SOCKET: 'EOF: the server closed the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  [tooMuchReceived]: 'more came than an answer may have',
  UND_ERR_CONNECT_TIMEOUT: `connect or TLS handshake took more than ${handshakeMs / 1000}s`,
};

const wordsOf = ({ code = '', message }: SystemError) =>
  words[code] ?? `${code === '' ? '' : `${code}: `}${quotable(message)}`;

interface SystemError extends Error {
  code?: string;
  cause?: unknown;
  address?: string;
  port?: number;
  errors?: unknown[];
}

/** Codes about TLS: OpenSSL's for certificates, and Node's own. */
const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

const isOverTime = (signal: AbortSignal) => (signal.reason as Error | undefined)?.name === 'TimeoutError';

/** Whether the caller has given up, rather than the time being over. */
export const isCancelled = (signal: AbortSignal): boolean => signal.aborted && !isOverTime(signal);

/** Why a call got no response, as httpCall reports it (internal/runtime/client/client.go, v1.14). */
export function unanswered(thrown: unknown, target: Target, signal: AbortSignal): CallError {
  const prefix = `http call failed: Post ${JSON.stringify(target.url)}: `;
  if (signal.aborted) {
    return isOverTime(signal)
      ? { step: 'timeout', message: `${prefix}${timeoutExpired}` }
      : { step: 'cancelled', message: `${prefix}context canceled` };
  }
  const outer = thrown as SystemError;
  // A host with several addresses fails once for each of them.
  const [first] = outer.errors ?? [];
  const error = (first ?? outer) as SystemError;
  const code = error.code ?? '';
  if (tlsCode.test(code)) {
    const detail = quotable(withoutNodeHint(error.message.replaceAll(/\s+/g, ' ')));
    return {
      step: 'tls',
      message: `${prefix}tls: failed to verify certificate or handshake failed: ${code}: ${detail}`,
    };
  }
  const where = error.address === undefined ? '' : `dial tcp ${error.address}:${error.port}: `;
  return { step: 'connect', message: `${prefix}${where}${wordsOf(error)}` };
}

/** Why the body of a 200 response could not be read to its end, as Cluster API's decoder would report it. */
export function brokenOff(thrown: unknown, signal: AbortSignal): CallError {
  const failed = (step: 'timeout' | 'decode', problem: string): CallError => ({
    step,
    message: `http call failed: failed to decode response: ${problem}`,
    code: 200,
  });
  if (signal.aborted) {
    return failed('timeout', timeoutExpired);
  }
  const { code = '', message } = thrown as SystemError;
  const isClosed = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
  const problem = isClosed ? 'unexpected EOF: the server closed the connection' : wordsOf(thrown as SystemError);
  return failed('decode', code.startsWith('Z_') ? `gzip: ${quotable(message)}` : problem);
}
