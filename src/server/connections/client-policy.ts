import type { TLSSocket } from 'node:tls';

/**
 * Which clients may call: those with a certificate issued by the client CA and, if names are given, one of these names.
 */
export interface ClientPolicy {
  /** Allowed common names and DNS names; if empty, every certificate of the CA is allowed. */
  allowedNames: readonly string[];
}

/** Why the client of a connection is refused, or undefined if it is allowed. */
export function refusalOf(socket: TLSSocket, { allowedNames }: ClientPolicy): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    return 'a client certificate is required';
  }
  if (!socket.authorized) {
    return `the client certificate is not accepted: ${String(socket.authorizationError)}`;
  }
  const { CN } = certificate.toLegacyObject().subject;
  // OpenSSL compares names as clients do: other cases, patterns, and domains below one, match too.
  const hasDnsName = (name: string) => certificate.checkHost(name) === name;
  return allowedNames.length === 0 || allowedNames.some((name) => name === CN || hasDnsName(name))
    ? undefined
    : 'the client certificate has none of the allowed names';
}
