import { generateKeyPair, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import type forge from 'node-forge';
import { type Certificate, problemOf, readCertificates } from './certificate.ts';
import { nodeForge, signWithRsa } from './forge.ts';

/** How far notBefore lies before the moment of issue, in ms: clocks of clients may be behind. */
export const backdateMs = 5 * 60_000;

/** Organization in the subject of every authority that this program made; recovery recognizes its own by it. */
export const organization = 'extensionconfig-webhook';

/** Sources of what a certificate needs besides its contents. */
export interface Entropy {
  /** A new key pair in PEM (PKCS #8, SPKI), made off the main thread. */
  makeKeyPair(): Promise<KeyPair>;
  randomBytes(count: number): Uint8Array;
}

/** A key pair in PEM. */
export interface KeyPair {
  privateKey: string;
  publicKey: string;
}

/** A certificate and its private key in PEM. */
export interface Issued {
  certificate: Certificate;
  key: string;
}

const generate = promisify(generateKeyPair);

/** node:crypto's generators. RSA: node-forge can't encode other public keys. */
export const systemEntropy: Entropy = {
  makeKeyPair: () =>
    generate('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }),
  randomBytes,
};

/** A random 128-bit serial in hex, positive as DER reads it (RFC 5280, 4.1.2.2). */
function serialNumber(entropy: Entropy): string {
  const bytes = Buffer.from(entropy.randomBytes(16));
  // A first byte of zero would not be minimal DER; one with the high bit set would be negative.
  bytes[0] = (bytes[0] as number) || 1;
  return ((bytes[0] as number) & 0x80 ? '00' : '') + bytes.toString('hex');
}

/** The last moment that a certificate can name (RFC 5280, 4.1.2.5): years have four digits. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59);

function signCertificate(certificate: forge.pki.Certificate, key: string): Certificate {
  signWithRsa(certificate, key);
  const read = readCertificates(nodeForge().pki.certificateToPem(certificate));
  if (read.state !== 'usable') {
    throw new Error(`a certificate just made ${problemOf(read)}`);
  }
  const [made] = read.value;
  // What OpenSSL reads must be what was asked for, to the second.
  const { notBefore, notAfter } = certificate.validity;
  const isSame = (date: Date, asked: Date) => Math.floor(asked.getTime() / 1000) === date.getTime() / 1000;
  if (!isSame(made.x509.validFromDate, notBefore) || !isSame(made.x509.validToDate, notAfter)) {
    throw new Error(`a certificate just made is valid until ${made.x509.validTo}, not ${notAfter.toISOString()}`);
  }
  return made;
}

function blank(publicKey: string, serial: string, notBefore: Date, notAfter: Date): forge.pki.Certificate {
  const forge = nodeForge();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  certificate.serialNumber = serial;
  certificate.validity.notBefore = notBefore;
  certificate.validity.notAfter = new Date(Math.min(notAfter.getTime(), lastMoment));
  return certificate;
}

/** Makes a self-signed authority of a name that no other has. */
export async function issueAuthority(now: Date, validityMs: number, entropy: Entropy): Promise<Issued> {
  const { privateKey, publicKey } = await entropy.makeKeyPair();
  const serial = serialNumber(entropy);
  const certificate = blank(
    publicKey,
    serial,
    new Date(now.getTime() - backdateMs),
    new Date(now.getTime() + validityMs),
  );
  const subject = [
    { shortName: 'O', value: organization },
    { shortName: 'CN', value: `extensionconfig-webhook CA ${now.toISOString().slice(0, 10)} ${serial.slice(-8)}` },
  ];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return { certificate: signCertificate(certificate, privateKey), key: privateKey };
}

/** Makes a serving certificate that ends no later than its authority. `names`: DNS names and IP addresses, at least one. */
export async function issueLeaf(
  authority: Issued,
  names: readonly string[],
  now: Date,
  validityMs: number,
  entropy: Entropy,
): Promise<Issued> {
  const { privateKey, publicKey } = await entropy.makeKeyPair();
  const issuer = nodeForge().pki.certificateFromPem(authority.certificate.pem);
  const end = Math.min(now.getTime() + validityMs, authority.certificate.x509.validToDate.getTime());
  const certificate = blank(publicKey, serialNumber(entropy), new Date(now.getTime() - backdateMs), new Date(end));
  // RFC 5280 limits a common name to 64 characters; clients read the alternative names only.
  certificate.setSubject([{ shortName: 'CN', value: (names[0] as string).slice(0, 64) }]);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
    {
      name: 'subjectAltName',
      altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
    },
  ]);
  return { certificate: signCertificate(certificate, authority.key), key: privateKey };
}
