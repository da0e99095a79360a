import { randomBytes } from 'node:crypto';
import { issueCa, issueClientCertificate, issueServingCertificate } from '../base/x509/index.ts';

/** Common name of the client certificate for aggregated API servers. */
export const proxyClientName = 'front-proxy-client';

const validityMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Creates a CA, a serving certificate for loopback, and a token, for one sandbox; they are written only to its kubeconfig. The
 * CA's key never leaves the process's memory. All are PEM but the token.
 */
export function makeCredentials(now: Date) {
  const ca = issueCa(now, validityMs, { sandbox: true });
  const names = ['localhost', '127.0.0.1', '::1'];
  const { certificate, key } = issueServingCertificate(ca, names, now, validityMs);
  return {
    ca: ca.certificate.pem,
    cert: certificate.pem,
    key,
    token: randomBytes(32).toString('base64url'),
    /** A client certificate for an aggregated API server, and its key. Issued for each, since few sandboxes have such servers. */
    proxyClient() {
      const client = issueClientCertificate(ca, proxyClientName, now, validityMs);
      return { cert: client.certificate.pem, key: client.key };
    },
  };
}
