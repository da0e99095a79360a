import type { PeerCertificate, TLSSocket } from 'node:tls';

/**
 * Which clients may call: those with a certificate issued by the client CA and, if names are given, one of these names.
 */
export interface ClientPolicy {
  /** Allowed common names and DNS names; if empty, every certificate of the CA is allowed. */
  allowedNames: readonly string[];
}

const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/gy;

/**
 * The DNS names in a subjectAltName as node:crypto prints it. Node quotes values with special characters, so that one
 * value cannot smuggle in another entry. A DNS name has no such characters, and quoted values are skipped.
 */
export function dnsNamesOf(subjectAltName: string): string[] {
  const names: string[] = [];
  for (const [, type, value] of subjectAltName.matchAll(entry)) {
    if (type === 'DNS' && value !== undefined && !value.startsWith('"')) {
      names.push(value);
    }
  }
  return names;
}

/** Why the client of a connection is refused, or undefined if it is allowed. */
export function refusalOf(socket: TLSSocket, policy: ClientPolicy): string | undefined {
  // Undefined once the socket is destroyed, empty if the client sent none.
  const certificate: Partial<PeerCertificate> = socket.getPeerCertificate() ?? {};
  if (Object.keys(certificate).length === 0) {
    return 'a client certificate is required';
  }
  if (!socket.authorized) {
    return `the client certificate is not accepted: ${String(socket.authorizationError)}`;
  }
  if (policy.allowedNames.length === 0) {
    return undefined;
  }
  const names = [certificate.subject?.CN, ...dnsNamesOf(certificate.subjectaltname ?? '')];
  return policy.allowedNames.some((name) => names.includes(name))
    ? undefined
    : 'the client certificate has none of the allowed names';
}
