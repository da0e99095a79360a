import { createPrivateKey, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { framingProblem, problemOf, readCertificates, readPem, servingProblem } from '../../base/x509/index.ts';

/** A serving certificate (with its chain) and its key, known to match. */
export interface CertificatePair {
  /** PEM: the serving certificate first, then its chain. */
  cert: string;
  /** PEM. Never logged. */
  key: string;
  notBefore: Date;
  notAfter: Date;
  /** SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it. */
  fingerprint: string;
  /** The names in the certificate, as node:crypto prints them; empty if there are none. */
  subjectAltName: string;
}

/** The result of reading a pair. A problem never contains any part of the key. */
type CheckedPair = { pair: CertificatePair } | { problem: string };

/** Checks that a certificate and a key can serve TLS together, before the server switches to them. */
export function checkPair(cert: string, key: string): CheckedPair {
  const chain = readCertificates(cert);
  if (chain.state !== 'usable') {
    return { problem: `the certificate ${problemOf(chain)}` };
  }
  const serving = chain.value[0].x509;
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(key);
  } catch {
    return { problem: 'the key is not an unencrypted private key in PEM' };
  }
  if (!serving.checkPrivateKey(privateKey)) {
    return { problem: 'the key does not belong to the certificate' };
  }
  const unsupported = servingProblem(serving);
  if (unsupported !== undefined) {
    return { problem: `the certificate ${unsupported}` };
  }
  try {
    // OpenSSL's own checks: keys that are too short, chains that do not parse.
    createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    const framing = framingProblem(readPem(cert));
    return {
      problem:
        framing === undefined
          ? `the pair cannot be used for TLS: ${(error as NodeJS.ErrnoException).code}`
          : `the text of the certificate ${framing}`,
    };
  }
  return {
    pair: {
      cert,
      key,
      notBefore: serving.validFromDate,
      notAfter: serving.validToDate,
      fingerprint: serving.fingerprint256,
      subjectAltName: serving.subjectAltName ?? '',
    },
  };
}

/**
 * A pair that is known to match.
 *
 * @throws {Error} that says what is wrong with the pair.
 */
export function pairOf(cert: string, key: string): CertificatePair {
  const checked = checkPair(cert, key);
  if ('problem' in checked) {
    throw new Error(checked.problem);
  }
  return checked.pair;
}

/** Whether to switch from the current pair to a new one, and if not, why; `until` is when to decide again. */
export function judgePair(
  current: CertificatePair | undefined,
  candidate: CertificatePair,
  now: Date,
): { use: true } | { use: false; reason: string; until?: Date } {
  // Without a current pair that is valid, even an invalid certificate is served: the client's error then names the cause.
  if (current === undefined || current.notAfter <= now) {
    return { use: true };
  }
  if (candidate.notAfter <= now) {
    return { use: false, reason: `the new certificate expired at ${candidate.notAfter.toISOString()}` };
  }
  // The clock was ahead where it was issued. Clients would reject it.
  if (candidate.notBefore > now && current.notBefore <= now) {
    const until = new Date(Math.min(candidate.notBefore.getTime(), current.notAfter.getTime()));
    return {
      use: false,
      reason: `the new certificate is not valid before ${candidate.notBefore.toISOString()}: check the clocks`,
      until,
    };
  }
  return { use: true };
}
