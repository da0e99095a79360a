import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Express } from 'express';
import type { Log } from '../base/index.ts';
import { classesOfMessages } from './application/application.ts';
import type { Refuse } from './application/refusal.ts';
import type { CertificatePair } from './certificates/certificate.ts';
import { refuseBrokenRequests } from './connections/broken-requests.ts';
import { type ConnectionEvents, Connections, clientOf } from './connections/connections.ts';
import { type Limits, nodeLimits } from './limits.ts';

/**
 * TLS 1.2 only with forward secrecy and authenticated encryption; TLS 1.3 as it is. Go, and so every API server, has
 * offered all of these since TLS 1.2. Curves are left to OpenSSL, which has none below 128 bits of security.
 */
const tlsSettings = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const;

/** Why the client of a connection is refused, or undefined if it is allowed. */
function refusalOf(socket: TLSSocket, allowedNames: readonly string[]): string | undefined {
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

interface HttpsOptions {
  limits: Limits;
  /** If given, client certificates are requested. Without names, every certificate of the CA is allowed. */
  clients: { allowedNames: readonly string[] } | undefined;
  events: ConnectionEvents & { handshakeFailed(error: NodeJS.ErrnoException, client: string | undefined): void };
  log: Log;
  application: Express;
  refuse: Refuse;
}

/** An HTTPS port that does not listen yet. */
export interface HttpsPort {
  server: Server;
  connections: Connections;
  /** Sets the certificate of new connections, without which handshakes fail, or the CAs of clients, all in PEM. */
  use(changes: Pick<CertificatePair, 'cert' | 'key'> | { ca: string }): void;
}

/** Puts an application on an HTTPS server with limits. */
export function createHttpsPort({ limits, clients, events, log, application, refuse }: HttpsOptions): HttpsPort {
  // A renegotiation lets clients make the server repeat the costly handshake, and no client needs one.
  // No session is resumed: OpenSSL checks the certificate of a client in full handshakes only. Go's clients, and so all API
  // servers, never resume one.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION | (clients === undefined ? 0 : constants.SSL_OP_NO_TICKET);
  // Without an explicit list of CAs, Node would trust every public one.
  const tls: SecureContextOptions = { ...tlsSettings, secureOptions, ca: [] };
  const server = createServer({
    ...tls,
    requestCert: clients !== undefined,
    // Clients without an accepted certificate get a 403 that says why; a failed handshake would say nothing.
    rejectUnauthorized: false,
    ...nodeLimits(limits),
    ...classesOfMessages(application),
  });
  const connections = new Connections(server, { limits, events, application, refuse });
  if (clients !== undefined) {
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = connections.of(socket);
      const refusal = refusalOf(socket, clients.allowedNames);
      if (connection !== undefined && refusal !== undefined) {
        connection.refusal = refusal;
        log.warn({ reason: refusal, client: clientOf(socket) }, 'client refused');
      }
    });
  }
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    events.handshakeFailed(error, clientOf(socket));
  });
  refuseBrokenRequests(server, connections);

  return {
    server,
    connections,
    use(changes) {
      Object.assign(tls, changes);
      if (tls.cert !== undefined) {
        server.setSecureContext(tls);
      }
    },
  };
}
