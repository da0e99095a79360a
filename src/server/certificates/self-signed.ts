import { issueSelfSigned } from '../../base/x509/index.ts';
import { type CertificatePair, pairOf } from './certificate.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * A self-signed certificate for localhost, for development. Valid for a year from `now`. The private key is made here and
 * never leaves the process.
 */
export function selfSignedPair(now: Date): CertificatePair {
  const { certificate, key } = issueSelfSigned(['localhost', '127.0.0.1', '::1'], now, yearMs);
  return pairOf(certificate.pem, key);
}
