import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

/** Longest PEM text that is read, in bytes: a bundle of 16 certificates with 4096-bit keys is 32 KiB. */
export const maxPemBytes = 64 * 1024;
/** Most certificates of a bundle. A rotation holds two, a recovery a few more. */
const maxCertificates = 16;

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** A certificate with its PEM text (normalized: one final line break). */
export interface Certificate {
  x509: X509Certificate;
  pem: string;
  /** SHA-256 of the DER, as node:crypto prints it. */
  fingerprint: string;
}

/** A value that was read from a place that anybody may have written: there and fit, there and unfit, or not there. */
export type Part<T> = { state: 'absent' } | { state: 'broken'; problem: string } | { state: 'usable'; value: T };

/** The value of a usable part, or undefined. */
export function usable<T>(part: Part<T>): T | undefined {
  return part.state === 'usable' ? part.value : undefined;
}

/** What is wrong with a part, as the end of a sentence; undefined when it is usable. */
export function problemOf(part: Part<unknown>): string | undefined {
  return part.state === 'usable' ? undefined : part.state === 'absent' ? 'is missing' : part.problem;
}

/**
 * Reads all certificates of a PEM text. Text between them is ignored, as OpenSSL does; a piece that does not parse makes the
 * whole text broken.
 */
export function readCertificates(text: string | undefined): Part<[Certificate, ...Certificate[]]> {
  if (text === undefined || text.trim() === '') {
    return { state: 'absent' };
  }
  if (text.length > maxPemBytes) {
    return { state: 'broken', problem: `is longer than ${maxPemBytes} bytes` };
  }
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN CERTIFICATE-----').length - 1) {
    return { state: 'broken', problem: 'is not PEM' };
  }
  if (blocks.length > maxCertificates) {
    return { state: 'broken', problem: `holds more than ${maxCertificates} certificates` };
  }
  try {
    const certificates = blocks.map((pem) => {
      const x509 = new X509Certificate(pem);
      // Parsing leaves the dates alone; ones that do not read would be before and after every other.
      if (Number.isNaN(x509.validFromDate.getTime()) || Number.isNaN(x509.validToDate.getTime())) {
        throw new Error('dates');
      }
      return { x509, pem: x509.toString(), fingerprint: x509.fingerprint256 };
    });
    return { state: 'usable', value: certificates as [Certificate, ...Certificate[]] };
  } catch {
    return {
      state: 'broken',
      problem: 'holds something that is not an X.509 certificate, or one with unreadable dates',
    };
  }
}

/** Certificates as a trust bundle: PEM, each once, in the order given. */
export function bundleOf(certificates: readonly Certificate[]): string {
  return [...new Map(certificates.map(({ fingerprint, pem }) => [fingerprint, pem])).values()].join('');
}

/** Reads a CA certificate (the first of the text) and says why it can't be an authority. */
export function readAuthority(text: string | undefined, now: Date): Part<Certificate> {
  const read = readCertificates(text);
  if (read.state !== 'usable') {
    return read;
  }
  const [certificate] = read.value;
  const problem = authorityProblem(certificate, now);
  return problem === undefined ? { state: 'usable', value: certificate } : { state: 'broken', problem };
}

/** Why a certificate is no authority now, or undefined. */
export function authorityProblem({ x509 }: Certificate, now: Date): string | undefined {
  if (!x509.ca) {
    return 'is no CA certificate (basicConstraints)';
  }
  return x509.validToDate <= now ? `expired at ${x509.validToDate.toISOString()}` : undefined;
}

/** Reads a private key that must belong to a certificate. The problem never holds a piece of the key. */
export function readKey(text: string | undefined, certificate: Certificate): Part<string> {
  if (text === undefined || text.trim() === '') {
    return { state: 'absent' };
  }
  if (text.length > maxPemBytes) {
    return { state: 'broken', problem: `is longer than ${maxPemBytes} bytes` };
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    return { state: 'broken', problem: 'is no unencrypted private key in PEM' };
  }
  if (!certificate.x509.checkPrivateKey(key)) {
    return { state: 'broken', problem: 'does not belong to the certificate' };
  }
  return { state: 'usable', value: text };
}

/** Whether an RSA key signed by this program's certificates: what node-forge can name as an issuer. */
export function isRsa(certificate: Certificate): boolean {
  return (
    createPublicKey(certificate.x509.publicKey.export({ type: 'spki', format: 'pem' })).asymmetricKeyType === 'rsa'
  );
}

/** Whether one certificate is signed by another: names and signature. */
export function isSignedBy(certificate: Certificate, authority: Certificate): boolean {
  try {
    return certificate.x509.checkIssued(authority.x509) && certificate.x509.verify(authority.x509.publicKey);
  } catch {
    return false;
  }
}

/** Those of the names (DNS names and IP addresses) that a certificate is not for. */
export function missingNames({ x509 }: Certificate, names: readonly string[]): string[] {
  const held = new Set(
    (x509.subjectAltName ?? '').split(', ').map((entry) => entry.replace(/^DNS:/, '').replace(/^IP Address:/, '')),
  );
  return names.filter((name) => !held.has(name) && x509.checkIP(name) === undefined);
}
