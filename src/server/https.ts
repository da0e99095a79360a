import { constants } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { bugFields, type Log } from '../base/index.ts';
import { refuseBrokenRequests } from './broken-requests.ts';
import type { CertificatePair } from './certificates/certificate.ts';
import { type ClientPolicy, refusalOf } from './client-policy.ts';
import { type ConnectionEvents, Connections } from './connections.ts';
import { clientOf, Exchange, type Handler } from './exchange.ts';
import type { Limits } from './limits.ts';

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

/** Longest path that is logged, in characters. */
const maxLoggedPath = 512;

interface HttpsOptions {
  limits: Limits;
  /** If given, client certificates are requested. */
  clients: ClientPolicy | undefined;
  events: ConnectionEvents & { handshakeFailed(error: NodeJS.ErrnoException, client: string | undefined): void };
  log: Log;
  handler: Handler;
}

/** An HTTPS port that does not listen yet. */
export interface HttpsPort {
  server: Server;
  connections: Connections;
  /** Sets the certificate of new connections, without which handshakes fail, or the CAs of clients, all in PEM. */
  use(changes: Pick<CertificatePair, 'cert' | 'key'> | { ca: string }): void;
}

/** Puts a handler on an HTTPS server with limits. */
export function createHttpsPort({ limits, clients, events, log, handler }: HttpsOptions): HttpsPort {
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
    handshakeTimeout: limits.headersTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    // The periodic check of all connections does that, without a timer for each request.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    noDelay: true,
    // Node's own response has no body, and is not counted.
    requireHostHeader: false,
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
  const logBug = (error: unknown, path: string) =>
    log.error({ path: path.slice(0, maxLoggedPath), ...bugFields(error) }, 'the handler of a request failed');
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const exchange = new Exchange(request, response, connections, logBug);
    const connection = connections.begin(exchange);
    if (connection === undefined) {
      return;
    }
    const { refusal } = connection;
    if (refusal !== undefined) {
      exchange.refuse({ code: 403, message: refusal });
    } else if (request.httpVersion === '1.1' && request.headers.host === undefined) {
      exchange.refuse({ code: 400, message: 'HTTP/1.1 requires the header Host' });
    } else {
      exchange.attempt(() => handler(exchange));
    }
  };
  server.on('request', onRequest);
  // The handler sends 100 Continue, or refuses before a body is sent.
  server.on('checkContinue', onRequest);
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
