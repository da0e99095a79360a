import type { TLSSocket } from 'node:tls';

/** Which clients may call: those with a certificate of the client CA and, if names are given, one of these names. */
export interface ClientPolicy {
  /** Allowed common names and DNS names; empty allows every certificate of the CA. */
  allowedNames: readonly string[];
}

const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;

/**
 * The DNS names in a subjectAltName as node:crypto prints it. Values with special characters are quoted there, so that
 * one cannot smuggle in another entry; a DNS name has none, and quoted ones are left out.
 */
export function dnsNamesOf(subjectAltName: string): string[] {
  const names: string[] = [];
  entry.lastIndex = 0;
  for (let match = entry.exec(subjectAltName); match !== null; match = entry.exec(subjectAltName)) {
    const [text, type, value] = match;
    if (text === '') {
      break;
    }
    if (type === 'DNS' && value !== undefined && !value.startsWith('"')) {
      names.push(value);
    }
  }
  return names;
}

/** Why the client of a connection is refused, or undefined when it is allowed. */
export function refusalOf(socket: TLSSocket, policy: ClientPolicy): string | undefined {
  const certificate = socket.getPeerCertificate();
  if (certificate === null || certificate === undefined || Object.keys(certificate).length === 0) {
    return 'a client certificate is required';
  }
  if (!socket.authorized) {
    return `the client certificate is not accepted: ${String(socket.authorizationError)}`;
  }
  if (policy.allowedNames.length === 0) {
    return undefined;
  }
  const commonName: unknown = certificate.subject?.CN;
  const names = [
    ...(typeof commonName === 'string' ? [commonName] : []),
    ...dnsNamesOf(certificate.subjectaltname ?? ''),
  ];
  return names.some((name) => policy.allowedNames.includes(name))
    ? undefined
    : 'the client certificate has none of the allowed names';
}
