import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ellipticEntropy, issueCa, issueServingCertificate } from '../base/x509/index.ts';

const validityMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Creates a CA, a serving certificate for loopback, and a token, for one sandbox; they are written only to its kubeconfig. The
 * CA's key never leaves the process's memory. All are PEM but the token.
 */
export async function makeCredentials(now: Date) {
  const ca = await issueCa(now, validityMs, ellipticEntropy, { sandbox: true });
  const names = ['localhost', '127.0.0.1', '::1'];
  const { certificate, key } = await issueServingCertificate(ca, names, now, validityMs, ellipticEntropy);
  return {
    ca: ca.certificate.pem,
    cert: certificate.pem,
    key,
    token: randomBytes(32).toString('base64url'),
  };
}

/** Whether an Authorization header carries the token, compared in constant time. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}
