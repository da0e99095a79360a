import { createSecureContext } from 'node:tls';
import {
  framingProblem,
  issueSelfSigned,
  problemOf,
  readCertificates,
  readKey,
  readPem,
  servingProblem,
} from '../../base/x509/index.ts';

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

/** Checks that a certificate and a key can serve TLS together. A problem never contains any part of the key. */
function checkPair(cert: string, key: string): { pair: CertificatePair } | { problem: string } {
  const chain = readCertificates(cert);
  if (chain.state !== 'usable') {
    return { problem: `the certificate ${problemOf(chain)}` };
  }
  const [serving] = chain.value;
  const keyProblem = problemOf(readKey(key, serving));
  const problem = servingProblem(serving.x509);
  if (keyProblem !== undefined || problem !== undefined) {
    return { problem: keyProblem === undefined ? `the certificate ${problem}` : `the key ${keyProblem}` };
  }
  try {
    // OpenSSL's own checks: keys that are too short, chains that do not parse.
    createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    const framing = framingProblem(readPem(cert));
    const { code } = error as NodeJS.ErrnoException;
    return { problem: framing ? `the text of the certificate ${framing}` : `the pair cannot be used for TLS: ${code}` };
  }
  const { validFromDate: notBefore, validToDate: notAfter, fingerprint256: fingerprint, subjectAltName } = serving.x509;
  return { pair: { cert, key, notBefore, notAfter, fingerprint, subjectAltName: subjectAltName ?? '' } };
}

/** An update about the serving certificate (a usable pair, none, or an unusable one) or about its source. */
export type CertificateEvent =
  | {
      kind: 'pair';
      pair: CertificatePair;
      /** PEM of the trust bundle that came with the pair, if any: it shows the stage of a rotation. */
      bundle?: string;
    }
  | { kind: 'absent'; reason: string }
  | { kind: 'broken'; reason: string }
  /** Why updates may not arrive (a forbidden watch, an unreachable API server), or undefined when they do again. */
  | { kind: 'source'; problem: string | undefined };

/**
 * Where the serving certificate comes from: reports its state before the promise resolves, then each change. Never rejects.
 * @returns the function that ends it.
 */
export type CertificateSource = (onEvent: (event: CertificateEvent) => void) => Promise<() => void>;

export function fixedCertificate(pair: CertificatePair): CertificateSource {
  return async (onEvent) => {
    onEvent({ kind: 'pair', pair });
    return () => {};
  };
}

/** The event for a certificate, its key and its trust bundle, if there is one; `where` names them. */
export function pairEvent(cert: string, key: string, bundle: string | undefined, where: string): CertificateEvent {
  const checked = checkPair(cert, key);
  return 'pair' in checked
    ? { kind: 'pair', pair: checked.pair, ...(bundle !== undefined && { bundle }) }
    : { kind: 'broken', reason: `${where}: ${checked.problem}` };
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** A self-signed certificate for localhost, for development, with a new key. Valid for a year from `now`. */
export function selfSignedPair(now: Date): CertificatePair {
  const { certificate, key } = issueSelfSigned(['localhost', '127.0.0.1', '::1'], now, yearMs);
  return (checkPair(certificate.pem, key) as { pair: CertificatePair }).pair;
}
