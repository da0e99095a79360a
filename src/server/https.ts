import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Express } from 'express';
import type { Log } from '../base/index.ts';
import { classesOfMessages } from './application/application.ts';
import type { Refuse } from './application/refusal.ts';
import type { CertificatePair } from './certificates/certificate.ts';
import { refuseBrokenRequests } from './connections/broken-requests.ts';
import { type ClientPolicy, refusalOf } from './connections/client-policy.ts';
import type { ConnectionEvents } from './connections/connection.ts';
import { Connections, clientOf } from './connections/connections.ts';
import { closeTimedOut } from './connections/timeouts.ts';
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

interface HttpsOptions {
  limits: Limits;
  /** If given, client certificates are requested. */
  clients: ClientPolicy | undefined;
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
  const connections = new Connections(server, limits, events);
  if (clients !== undefined) {
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = connections.of(socket);
      const refusal = refusalOf(socket, clients);
      if (connection !== undefined && refusal !== undefined) {
        connection.refusal = refusal;
        log.warn({ reason: refusal, client: clientOf(socket) }, 'client refused');
      }
    });
  }
  closeTimedOut(server, connections);
  connections.serve(application, refuse);
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
