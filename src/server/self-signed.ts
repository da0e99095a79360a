import { issueSelfSigned } from '../x509/index.ts';
import { type CertificatePair, checkPair } from './certificate.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * A self-signed certificate for localhost, for development. Valid for a year from `now`. The private key is made here and
 * never leaves the process.
 */
export function selfSignedPair(now: Date): CertificatePair {
  const { certificate, key } = issueSelfSigned(['localhost', '127.0.0.1', '::1'], now, yearMs);
  const checked = checkPair(certificate.pem, key);
  if ('problem' in checked) {
    throw new Error(checked.problem);
  }
  return checked.pair;
}
