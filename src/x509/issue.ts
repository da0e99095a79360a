import { createPublicKey, generateKeyPair, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { type Certificate, problemOf, readCertificates } from './certificate.ts';
import { type Contents, issuerKeyIdentifier, signedCertificate } from './forge.ts';

/** How far notBefore lies before the moment of issue, in ms: clocks of clients may be behind. */
export const backdateMs = 5 * 60_000;

/** Organization in the subject of every CA that this program makes for a webhook; recovery recognizes its own by it. */
export const organization = 'extensionconfig-webhook';

/** Where keys and serial numbers come from. */
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

const inPem = {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
} as const;
const rsaKeys = { modulusLength: 2048, ...inPem } as const;
const ellipticKeys = { namedCurve: 'P-256', ...inPem } as const;

/** node:crypto's generators. The keys are RSA, which every client knows. */
export const systemEntropy: Entropy = { makeKeyPair: () => generate('rsa', rsaKeys), randomBytes };

/**
 * The same with keys on an elliptic curve, for what starts often and lives short: one takes a hundredth of a
 * millisecond to make, where an RSA key takes a tenth of a second, and a handshake costs the server a tenth.
 */
export const ellipticEntropy: Entropy = {
  makeKeyPair: async () => generateKeyPairSync('ec', ellipticKeys),
  randomBytes,
};

/** A random 128-bit serial in hex, positive as DER reads it (RFC 5280, 4.1.2.2). */
function serialNumber(entropy: Pick<Entropy, 'randomBytes'>): string {
  const bytes = Buffer.from(entropy.randomBytes(16));
  // A first byte of zero would not be minimal DER; one with the high bit set would be negative.
  bytes[0] = (bytes[0] as number) || 1;
  return ((bytes[0] as number) & 0x80 ? '00' : '') + bytes.toString('hex');
}

/** What one certificate is made from. */
interface Request extends Pick<Contents, 'serial' | 'subject' | 'issuer' | 'extensions'> {
  /** In PEM. */
  publicKey: string;
  /** The issuer's private key in PEM. */
  issuerKey: string;
  now: Date;
  notAfter: Date;
}

/** The last moment that a certificate can name (RFC 5280, 4.1.2.5): years have four digits. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Every certificate of this program comes from here.
 *
 * @throws {Error} when what was made is not what was asked for: a bug, or a key that is neither RSA nor on an elliptic
 *   curve.
 */
function issue({ publicKey, issuer, issuerKey, now, notAfter, ...contents }: Request): Certificate {
  const notBefore = new Date(now.getTime() - backdateMs);
  const end = new Date(Math.min(notAfter.getTime(), lastMoment));
  const key = createPublicKey(publicKey);
  const der = signedCertificate({ ...contents, issuer, publicKey: key, notBefore, notAfter: end }, issuerKey);
  const read = readCertificates(new X509Certificate(der).toString());
  if (read.state !== 'usable') {
    throw new Error(`the new certificate ${problemOf(read)}`);
  }
  const [made] = read.value;
  // OpenSSL must read the dates that were asked for, to the second.
  const isSame = (date: Date, asked: Date) => Math.floor(asked.getTime() / 1000) === date.getTime() / 1000;
  if (!isSame(made.x509.validFromDate, notBefore) || !isSame(made.x509.validToDate, end)) {
    const asked = `from ${notBefore.toISOString()} to ${end.toISOString()}`;
    throw new Error(`the new certificate is valid from ${made.x509.validFrom} to ${made.x509.validTo}, not ${asked}`);
  }
  return made;
}

function alternativeNames(names: readonly string[]) {
  return {
    name: 'subjectAltName',
    altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
  };
}

/**
 * What the key of a server or a client is for. Only an RSA key enciphers other keys; a certificate for one on an elliptic
 * curve must not say so (RFC 8813, 3).
 */
function usageOf(publicKey: string) {
  const keyEncipherment = createPublicKey(publicKey).asymmetricKeyType === 'rsa';
  return { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment };
}

/** RFC 5280 limits a common name to 64 characters; clients read the alternative names only. */
function commonName(text: string) {
  return { shortName: 'CN', value: text.slice(0, 64) };
}

/**
 * Makes a CA with a new key. It may sign serving certificates, but no other CA.
 *
 * @param validityMs how long it is valid from `now`, in ms; at most until the year 9999.
 * @param sandbox makes it a sandbox's CA, which the recovery of a webhook's certificates never takes for its own.
 */
export async function issueCa(
  now: Date,
  validityMs: number,
  entropy: Entropy,
  { sandbox = false }: { sandbox?: boolean } = {},
): Promise<Issued> {
  const { privateKey, publicKey } = await entropy.makeKeyPair();
  const serial = serialNumber(entropy);
  // No two CAs have the same name: clients look for an issuer by its name.
  const subject = sandbox
    ? [commonName(`extensionconfig-webhook sandbox ${serial.slice(-8)}`)]
    : [
        { shortName: 'O', value: organization },
        commonName(`extensionconfig-webhook CA ${now.toISOString().slice(0, 10)} ${serial.slice(-8)}`),
      ];
  const certificate = issue({
    serial,
    subject,
    publicKey,
    issuer: undefined,
    issuerKey: privateKey,
    now,
    notAfter: new Date(now.getTime() + validityMs),
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
      { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    ],
  });
  return { certificate, key: privateKey };
}

/** A certificate that is not a CA, signed by one; it ends no later than the CA. */
function issueBy(
  ca: Issued,
  name: string,
  { privateKey, publicKey }: KeyPair,
  now: Date,
  validityMs: number,
  entropy: Entropy,
  { usage, more }: { usage: object; more: object[] },
): Issued {
  const issuer = ca.certificate.x509;
  const certificate = issue({
    serial: serialNumber(entropy),
    subject: [commonName(name)],
    publicKey,
    issuer,
    issuerKey: ca.key,
    now,
    notAfter: new Date(Math.min(now.getTime() + validityMs, ca.certificate.x509.validToDate.getTime())),
    extensions: [
      { name: 'basicConstraints', critical: true, cA: false },
      usageOf(publicKey),
      { name: 'extKeyUsage', ...usage },
      { name: 'authorityKeyIdentifier', keyIdentifier: issuerKeyIdentifier(issuer) },
      ...more,
    ],
  });
  return { certificate, key: privateKey };
}

/**
 * Makes a serving certificate with a new key.
 *
 * @param names DNS names and IP addresses, at least one; the first becomes the common name.
 * @param validityMs how long it is valid from `now`, in ms; it ends no later than the CA.
 */
export async function issueServingCertificate(
  ca: Issued,
  names: readonly string[],
  now: Date,
  validityMs: number,
  entropy: Entropy,
): Promise<Issued> {
  const [name = ''] = names;
  return issueBy(ca, name, await entropy.makeKeyPair(), now, validityMs, entropy, {
    usage: { serverAuth: true },
    more: [alternativeNames(names)],
  });
}

/**
 * Makes a client certificate, for an existing key.
 *
 * @param name the common name.
 * @param keys the key pair that it is for.
 * @param validityMs how long it is valid from `now`, in ms; it ends no later than the CA.
 */
export function issueClientCertificate(
  ca: Issued,
  name: string,
  keys: KeyPair,
  now: Date,
  validityMs: number,
  entropy: Entropy,
): Issued {
  return issueBy(ca, name, keys, now, validityMs, entropy, { usage: { clientAuth: true }, more: [] });
}

/**
 * Makes a serving certificate that is its own CA, with a new key on an elliptic curve, for development.
 *
 * @param names DNS names and IP addresses, at least one; the first becomes the common name.
 * @param validityMs how long it is valid from `now`, in ms.
 */
export function issueSelfSigned(names: readonly string[], now: Date, validityMs: number): Issued {
  const { privateKey, publicKey } = generateKeyPairSync('ec', ellipticKeys);
  const subject = [commonName(names[0] as string)];
  const certificate = issue({
    serial: serialNumber(systemEntropy),
    subject,
    publicKey,
    issuer: undefined,
    issuerKey: privateKey,
    now,
    notAfter: new Date(now.getTime() + validityMs),
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true },
      { ...usageOf(publicKey), keyCertSign: true },
      { name: 'extKeyUsage', serverAuth: true },
      alternativeNames(names),
    ],
  });
  return { certificate, key: privateKey };
}
