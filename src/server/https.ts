import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { CertificatePair } from './certificates/certificate.ts';
import type { Limits } from './connections/limits.ts';
import { Http1Response } from './connections/tracked.ts';

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

/** Options of OpenSSL. */
function secureOptionsOf(clientCertificates: boolean): number {
  // A renegotiation lets clients make the server repeat the costly handshake, and no client needs one.
  const { SSL_OP_NO_RENEGOTIATION: noRenegotiation, SSL_OP_NO_TICKET: noTicket } = constants;
  // OpenSSL verifies the certificate of a client in full handshakes only: a resumed session would outlive the certificate
  // and the CA. Go's clients, and so all API servers, resume none anyway.
  return clientCertificates ? noRenegotiation | noTicket : noRenegotiation;
}

/** Settings, besides limits, that may differ between HTTPS servers. */
export interface HttpsFeatures {
  /** Whether to offer HTTP/2 besides HTTP/1.1. */
  http2: boolean;
  /** Whether to request client certificates. */
  clientCertificates: boolean;
}

/** Creates an HTTPS server that does not listen yet. Its handshakes fail until they have a certificate. */
export function createHttpsServer(limits: Limits, { http2, clientCertificates }: HttpsFeatures) {
  return createServer({
    ...tlsSettings,
    secureOptions: secureOptionsOf(clientCertificates),
    ServerResponse: Http1Response,
    requestCert: clientCertificates,
    // Clients without an accepted certificate get a 403 that says why; a failed handshake would say nothing.
    rejectUnauthorized: false,
    handshakeTimeout: limits.headersTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // The periodic check of all connections does that, without a timer per request.
    keepAliveTimeout: 0,
    noDelay: true,
    ...(http2 && { ALPNProtocols: ['h2', 'http/1.1'] }),
  });
}

/** The TLS settings of a server's handshakes. A change affects new connections only. */
export interface Handshakes {
  useCertificate(pair: CertificatePair): void;
  /** Sets the CAs of client certificates, in PEM. */
  useClientCa(pem: string): void;
}

/** Creates the TLS settings for a server, which has no certificate at first. */
export function createHandshakes(server: Pick<Server, 'setSecureContext'>, clientCertificates: boolean): Handshakes {
  let pair: CertificatePair | undefined;
  let clientCa: string | undefined;
  function apply(): void {
    if (pair !== undefined) {
      server.setSecureContext({
        cert: pair.cert,
        key: pair.key,
        ...tlsSettings,
        secureOptions: secureOptionsOf(clientCertificates),
        // Without an explicit list, Node would trust every public CA.
        ...(clientCertificates && { ca: clientCa ?? [] }),
      });
    }
  }
  return {
    useCertificate(next) {
      pair = next;
      apply();
    },
    useClientCa(pem) {
      clientCa = pem;
      apply();
    },
  };
}
