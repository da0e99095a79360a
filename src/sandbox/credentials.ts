import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  ellipticEntropy,
  issueCa,
  issueClientCertificate,
  issueServingCertificate,
  makeEllipticKeyPair,
} from '../base/x509/index.ts';

/**
 * The certificates and the token of a sandbox, which are created for each sandbox and written only to its kubeconfig.
 */
interface Credentials {
  ca: string;
  /** PEM of the serving certificate and its key. */
  cert: string;
  key: string;
  token: string;
  /**
   * PEM of a client certificate for an aggregated API server, and its key. Issued for each, since few sandboxes have such
   * servers.
   */
  proxyClient(): { cert: string; key: string };
}

/** Common name of the client certificate for aggregated API servers. */
export const proxyClientName = 'front-proxy-client';

const validityMs = 30 * 24 * 60 * 60 * 1000;

/** Creates a CA, a serving certificate for loopback, and a token. The CA's key never leaves the process's memory. */
export async function makeCredentials(now: Date): Promise<Credentials> {
  const ca = await issueCa(now, validityMs, ellipticEntropy, { sandbox: true });
  const names = ['localhost', '127.0.0.1', '::1'];
  const { certificate, key } = await issueServingCertificate(ca, names, now, validityMs, ellipticEntropy);
  return {
    ca: ca.certificate.pem,
    cert: certificate.pem,
    key,
    token: randomBytes(32).toString('base64url'),
    proxyClient() {
      const keys = makeEllipticKeyPair();
      const client = issueClientCertificate(ca, proxyClientName, keys, now, validityMs);
      return { cert: client.certificate.pem, key: client.key };
    },
  };
}

/** Whether an Authorization header carries the token, compared in constant time. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}
