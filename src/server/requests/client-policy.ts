import type { PeerCertificate, TLSSocket } from 'node:tls';
import { refusal } from '../../kubernetes/index.ts';
import type { TrackedServer } from '../connections/tracked.ts';
import type { Application, Foundation } from './application.ts';
import { refuseUnread } from './response.ts';

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
function refusalOf(socket: TLSSocket, policy: ClientPolicy): string | undefined {
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

/** Wraps an application so that it serves only the clients that a policy allows. Others get a 403 that says why. */
export function forAllowedClients(
  server: TrackedServer,
  policy: ClientPolicy,
  application: Application,
  { log, metrics, maxBodyBytes }: Pick<Foundation, 'log' | 'metrics' | 'maxBodyBytes'>,
): Application {
  // Decided once per connection, at its handshake.
  const refusals = new WeakMap<TLSSocket, string>();
  server.on('secureConnection', (socket: TLSSocket) => {
    const refused = refusalOf(socket, policy);
    if (refused !== undefined) {
      refusals.set(socket, refused);
      log.warn({ reason: refused, remoteAddress: socket.remoteAddress }, 'client refused');
    }
  });
  return (request, response) => {
    const secure = response.carrier?.secure;
    const refused = secure === undefined ? 'the connection has ended' : refusals.get(secure);
    if (refused === undefined) {
      application(request, response);
    } else {
      metrics.refused(403);
      refuseUnread(request, response, refusal(403, refused), maxBodyBytes);
    }
  };
}
