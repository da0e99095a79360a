import { createPrivateKey, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import {
  framingProblem,
  issueSelfSigned,
  problemOf,
  readCertificates,
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

/** The result of reading a pair. A problem never contains any part of the key. */
type CheckedPair = { pair: CertificatePair } | { problem: string };

/** Checks that a certificate and a key can serve TLS together, before the server switches to them. */
function checkPair(cert: string, key: string): CheckedPair {
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
  /**
   * The state of the source itself: why updates may not arrive (a forbidden watch, an unreachable API server), or
   * undefined when it works again. The certificate in use stays in use.
   */
  | { kind: 'source'; problem: string | undefined };

/** Where the serving certificate comes from. */
export interface CertificateSource {
  /** Starts reporting: the current state before the promise resolves, then each change. Never rejects. */
  start(onEvent: (event: CertificateEvent) => void): Promise<void>;
  /** Stops reporting and releases files and timers. */
  stop(): void;
}

/** A source with one fixed pair. */
export function fixedCertificate(pair: CertificatePair): CertificateSource {
  return {
    async start(onEvent) {
      onEvent({ kind: 'pair', pair });
    },
    stop() {},
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

/**
 * A self-signed certificate for localhost, for development. Valid for a year from `now`. The private key is made here and
 * never leaves the process.
 */
export function selfSignedPair(now: Date): CertificatePair {
  const { certificate, key } = issueSelfSigned(['localhost', '127.0.0.1', '::1'], now, yearMs);
  return (checkPair(certificate.pem, key) as { pair: CertificatePair }).pair;
}
