import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { issueCa, issueClientCertificate, issueServingCertificate, systemEntropy } from '../x509/index.ts';

/** What a sandbox serves with and is reached with; made anew for each, never written but to its kubeconfig. */
export interface Credentials {
  /** PEM of the CA. */
  ca: string;
  /** PEM of the serving certificate and its key. */
  cert: string;
  key: string;
  /** Bearer token of the one user. */
  token: string;
  /** PEM of the certificate by which it proves itself to aggregated API servers; its key is that above. */
  proxyClientCert: string;
}

/** Whom the certificate for aggregated API servers names. */
export const proxyClientName = 'front-proxy-client';

const validityMs = 30 * 24 * 60 * 60 * 1000;

/** Makes a CA, a serving certificate for loopback, and a token. The CA's key is forgotten. */
export async function makeCredentials(now: Date): Promise<Credentials> {
  // Both keys are made at the same time: each takes a tenth of a second on a thread of its own.
  const own = systemEntropy.makeKeyPair();
  const keys = [own, systemEntropy.makeKeyPair()];
  const entropy = { ...systemEntropy, makeKeyPair: () => keys.pop() ?? systemEntropy.makeKeyPair() };
  const ca = await issueCa(now, validityMs, entropy, { sandbox: true });
  const names = ['localhost', '127.0.0.1', '::1'];
  const { certificate, key } = await issueServingCertificate(ca, names, now, validityMs, entropy);
  // A pair of its own would make every start slower.
  const client = issueClientCertificate(ca, proxyClientName, await own, now, validityMs, entropy);
  return {
    ca: ca.certificate.pem,
    cert: certificate.pem,
    key,
    token: randomBytes(32).toString('base64url'),
    proxyClientCert: client.certificate.pem,
  };
}

/** Whether an Authorization header carries the token. Takes the same time whatever is wrong with it. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}
