import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { CertificatePair } from './certificate.ts';
import type { Limits } from './limits.ts';
import { Http1Response } from './tracked.ts';

/**
 * TLS 1.2 with forward secrecy and authenticated encryption only, 1.3 as it is. Go (and so API servers) offers all of
 * these since 1.2. Curves are OpenSSL's own choice, which has none below 128 bits of security.
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
  // A renegotiation costs the server a handshake on request, and no client needs one.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

/** Settings that may differ between HTTPS servers besides their limits. */
export interface HttpsFeatures {
  /** Whether to offer HTTP/2 besides HTTP/1.1. */
  http2: boolean;
  /** Whether clients are asked for a certificate. */
  clientCertificates: boolean;
}

/** Makes an HTTPS server that does not listen yet, and whose handshakes fail until they have a certificate. */
export function createHttpsServer(limits: Limits, { http2, clientCertificates }: HttpsFeatures) {
  return createServer({
    ...tlsSettings,
    ServerResponse: Http1Response,
    requestCert: clientCertificates,
    // Clients without an accepted certificate get a 403 that says why; a failed handshake would say nothing.
    rejectUnauthorized: false,
    handshakeTimeout: limits.headersTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // The sweep over all connections does that, without a timer per request.
    keepAliveTimeout: 0,
    noDelay: true,
    ...(http2 && { ALPNProtocols: ['h2', 'http/1.1'] }),
  });
}

/** The TLS settings of a server's handshakes. New connections use later values; open ones keep theirs. */
export interface Handshakes {
  useCertificate(pair: CertificatePair): void;
  /** Sets the CAs of client certificates, in PEM. */
  useClientCa(pem: string): void;
}

/** Sets what the handshakes of a server use: nothing without a certificate. */
export function createHandshakes(server: Pick<Server, 'setSecureContext'>, clientCertificates: boolean): Handshakes {
  let pair: CertificatePair | undefined;
  let clientCa: string | undefined;
  function apply(): void {
    if (pair !== undefined) {
      server.setSecureContext({
        cert: pair.cert,
        key: pair.key,
        ...tlsSettings,
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
