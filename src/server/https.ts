import { constants } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Express } from 'express';
import type { Log } from '../base/index.ts';
import { classesOfMessages, Refusal, type Refuse, readingMs, statusOf } from './application/refusal.ts';
import type { CertificatePair } from './certificates/certificate.ts';
import { type ConnectionEvents, Connections, clientOf } from './connections/connections.ts';
import { type Limits, nodeLimits } from './limits.ts';

/** TLS 1.2 only with forward secrecy and authenticated encryption, as Go has it. OpenSSL's curves have 128 bits or more. */
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

/** HTTP status code, reason phrase and message for an error of Node's parser. */
function refusalOfError(errorCode: string | undefined): [code: number, phrase: string, message: string] | undefined {
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [408, 'Request Timeout', 'the request did not arrive in time'];
  }
  if (errorCode === 'HPE_HEADER_OVERFLOW') {
    return [431, 'Request Header Fields Too Large', 'the header of the request is too large'];
  }
  return errorCode?.startsWith('HPE_') ? [400, 'Bad Request', 'the request is not valid HTTP/1.1'] : undefined;
}

/** Responds where Node would without a body, or not at all: to requests that cannot be read, and to CONNECT. */
function refuseBrokenRequests(server: Server, connections: Connections): void {
  function refuse(socket: Duplex, code: number, phrase: string, message: string, headers = ''): void {
    const { text } = statusOf({ code, message });
    connections.events.refused(new Refusal(code, message), socket as Socket);
    socket.end(
      `HTTP/1.1 ${code} ${phrase}\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
    // Close even if the client never reads the response.
    setTimeout(() => socket.destroy(), readingMs).unref();
  }
  // TLS errors arrive here too, before there is a request to respond to.
  server.on('clientError', ({ code: errorCode }: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = refusalOfError(errorCode);
    const connection = connections.of(socket);
    // The client takes the next response for that to its first request, which may be another one that was valid.
    const isOwn = connection?.responses.values().every(({ req, headersSent }) => !req.complete && !headersSent);
    if (refusal === undefined || !isOwn || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, ...refusal);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {});
    refuse(socket, 405, 'Method Not Allowed', 'CONNECT is not supported here: use POST', 'allow: POST\r\n');
  });
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

export type HttpsPort = ReturnType<typeof createHttpsPort>;

/** Puts an application on an HTTPS server with limits, which does not listen yet. */
export function createHttpsPort({ limits, clients, events, log, application, refuse }: HttpsOptions) {
  // Renegotiations would repeat the costly handshake. OpenSSL checks client certificates in full handshakes only, so that no
  // session is resumed; Go's clients never do.
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
    /** Sets the certificate of new connections, without which handshakes fail, or the CAs of clients, all in PEM. */
    use(changes: Pick<CertificatePair, 'cert' | 'key'> | { ca: string }): void {
      Object.assign(tls, changes);
      if (tls.cert !== undefined) {
        server.setSecureContext(tls);
      }
    },
  };
}
