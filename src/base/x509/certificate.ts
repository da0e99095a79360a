import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { readPem } from './pem.ts';
import { handshakeProblem, signingProblem, unreadableProblem } from './signature.ts';

/** Longest PEM text that is read, in bytes: a bundle of 32 certificates with 4096-bit keys. */
export const maxPemBytes = 64 * 1024;

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** A certificate with its PEM text (normalized: one final line break). */
export interface Certificate {
  readonly x509: X509Certificate;
  readonly pem: string;
  /** SHA-256 of the DER, as node:crypto prints it. */
  readonly fingerprint: string;
}

/** A value from an untrusted source: absent, invalid (`problem` ends a sentence), or usable. */
export type Parsed<T> = { state: 'absent' } | { state: 'broken'; problem: string } | { state: 'usable'; value: T };

/** The value of a usable reading; undefined for others. */
export function usable<T>(reading: Parsed<T>): T | undefined {
  return reading.state === 'usable' ? reading.value : undefined;
}

/** What is wrong with a reading, as the end of a sentence; undefined if it is usable. */
export function problemOf(reading: Parsed<unknown>): string | undefined {
  return reading.state === 'usable' ? undefined : reading.state === 'absent' ? 'is missing' : reading.problem;
}

/** Whether the dates of a certificate are readable, which parsing does not check: Node.js gives an invalid Date, or any. */
export function hasDates({ validFrom, validTo }: X509Certificate): boolean {
  return !Number.isNaN(Date.parse(validFrom)) && !Number.isNaN(Date.parse(validTo));
}

function parsed(data: string | Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(data);
  } catch {
    return undefined;
  }
}

function limited(text = ''): Parsed<string> {
  if (text.trim() === '') {
    return { state: 'absent' };
  }
  return text.length > maxPemBytes
    ? { state: 'broken', problem: `is longer than ${maxPemBytes} bytes` }
    : { state: 'usable', value: text };
}

/** Reads all certificates in a PEM text. Text between them is ignored; one that does not parse invalidates all. */
export function readCertificates(text: string | undefined): Parsed<[Certificate, ...Certificate[]]> {
  const pem = limited(text);
  if (pem.state !== 'usable') {
    return pem;
  }
  const blocks = pem.value.match(block) ?? [];
  if (blocks.length === 0 || blocks.length !== pem.value.split('-----BEGIN CERTIFICATE-----').length - 1) {
    return { state: 'broken', problem: 'is not PEM' };
  }
  const certificates: Certificate[] = [];
  for (const one of blocks) {
    const x509 = parsed(one);
    if (x509 === undefined || !hasDates(x509)) {
      const problem = 'contains data that is not an X.509 certificate, or one with unreadable dates';
      return { state: 'broken', problem };
    }
    certificates.push({ x509, pem: x509.toString(), fingerprint: x509.fingerprint256 });
  }
  return { state: 'usable', value: certificates as [Certificate, ...Certificate[]] };
}

/** A trust bundle of certificates in PEM, in the given order and without duplicates. */
export function bundleOf(certificates: readonly Certificate[]): string {
  return [...new Map(certificates.map(({ fingerprint, pem }) => [fingerprint, pem])).values()].join('');
}

/** The public key of a certificate; undefined if it cannot be decoded, in which case Node.js throws. */
function publicKeyOf(x509: X509Certificate): KeyObject | undefined {
  try {
    return x509.publicKey;
  } catch {
    return undefined;
  }
}

/** Why API servers do not read a certificate (Go, x509.ParseCertificate), as the end of a sentence, if so. */
export function unreadProblem(x509: X509Certificate): string | undefined {
  if (x509.serialNumber.startsWith('-')) {
    return 'has a negative serial number, which API servers cannot parse: reissue it with a positive one';
  }
  if (!hasDates(x509)) {
    return 'has a date that cannot be read, which API servers do not read either: issue it again';
  }
  const key = publicKeyOf(x509);
  return key === undefined ? undefined : unreadableProblem(key);
}

/** Why no API server completes a handshake with a server that has this certificate, as the end of a sentence, if so. */
export function servingProblem(x509: X509Certificate): string | undefined {
  // Go (1.18 and later) checks every signature but that of a certificate in the trust bundle.
  const isWeak = /md5|sha1/i.test(String(x509.signatureAlgorithm)) && !x509.checkIssued(x509);
  if (isWeak) {
    return `is signed with ${x509.signatureAlgorithm}, which API servers and Cluster API do not accept: issue it with SHA-256`;
  }
  const key = publicKeyOf(x509);
  return unreadProblem(x509) ?? (key === undefined ? undefined : handshakeProblem(key));
}

/** The certificates in a PEM text that Go would read for a trust bundle, parsed on demand; Go skips the others. */
export function* readableCertificates(text: string): Generator<X509Certificate, undefined> {
  for (const der of readPem(text)) {
    const x509 = der && parsed(der);
    if (x509 && x509.raw.length === der.length && unreadProblem(x509) === undefined) {
      yield x509;
    }
  }
}

/** Why a certificate is not a currently valid CA that API servers can read; undefined if it is. */
export function caProblem({ x509 }: Certificate, now: Date): string | undefined {
  if (!x509.ca) {
    return 'is not a CA certificate (basicConstraints)';
  }
  if (x509.validToDate <= now) {
    return `expired at ${x509.validToDate.toISOString()}`;
  }
  return unreadProblem(x509);
}

/** Reads a private key that must match a certificate. The problem never contains any part of the key. */
export function readKey(text: string | undefined, certificate: Certificate): Parsed<string> {
  const pem = limited(text);
  if (pem.state !== 'usable') {
    return pem;
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem.value);
  } catch {
    return { state: 'broken', problem: 'is not an unencrypted private key in PEM' };
  }
  if (!certificate.x509.checkPrivateKey(key)) {
    return { state: 'broken', problem: 'does not belong to the certificate' };
  }
  return pem;
}

/** The private key of a CA as it was read, if it can sign. */
export function asCaKey(key: Parsed<string>, ca: Certificate): Parsed<string> {
  const problem = key.state === 'usable' ? signingProblem(ca.x509.publicKey) : undefined;
  return problem === undefined ? key : { state: 'broken', problem };
}

export function isSignedBy(certificate: Certificate, ca: Certificate): boolean {
  // A key that cannot be decoded has issued nothing, according to checkIssued; accessing the key itself throws then.
  return certificate.x509.checkIssued(ca.x509) && certificate.x509.verify(ca.x509.publicKey);
}

/** Whether a name in a certificate is an IP address, which has no zone. */
export function isAddress(name: string): boolean {
  // The pattern for IPv6 takes Node.js some milliseconds to compile: DNS names do without.
  return name.includes(':') ? isIPv6(name) && !name.includes('%') : isIPv4(name);
}

/** The names (DNS names and IP addresses) that a certificate is not valid for. */
export function missingNames({ x509 }: Certificate, names: readonly string[]): string[] {
  const altNames = new Set(x509.subjectAltName?.split(', '));
  // An IP address may be written in several ways; checkIP throws for anything else.
  return names.filter((name) => (isAddress(name) ? x509.checkIP(name) === undefined : !altNames.has(`DNS:${name}`)));
}
