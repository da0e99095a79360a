import { createPublicKey, generateKeyPair, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { isAddress, withoutDots } from './address.ts';
import { type Certificate, problemOf, readCertificates } from './certificate.ts';
import { type Contents, issuerKeyIdentifier, signedCertificate } from './forge.ts';

/** How far notBefore precedes the time of issue, in ms, because clients' clocks may be slow. */
export const backdateMs = 5 * 60_000;

/** Organization in the subject of every CA that this program creates for a webhook, by which recovery knows it. */
export const organization = 'extensionconfig-webhook';

export interface Entropy {
  /** Creates a key pair in PEM (PKCS #8, SPKI), off the main thread. */
  makeKeyPair(): Promise<KeyPair>;
}

export interface KeyPair {
  privateKey: string;
  publicKey: string;
}

export interface Issued {
  certificate: Certificate;
  key: string;
}

const inPem = {
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
} as const;
const rsaKeys = { modulusLength: 2048, ...inPem } as const;
const ellipticKeys = { namedCurve: 'P-256', ...inPem } as const;

/** The generators of node:crypto. The keys are RSA, which every client supports. */
export const systemEntropy: Entropy = { makeKeyPair: () => promisify(generateKeyPair)('rsa', rsaKeys) };

/** A new elliptic-curve key pair in PEM, at once. */
export function makeEllipticKeyPair(): KeyPair {
  return generateKeyPairSync('ec', ellipticKeys);
}

/** The same with elliptic-curve keys, for servers that start often: one takes a hundredth of a ms, an RSA key 100 ms. */
export const ellipticEntropy: Entropy = { makeKeyPair: async () => makeEllipticKeyPair() };

/** A random serial number of 128 bits in hex, positive and without a leading zero byte in DER (RFC 5280, 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

interface Request {
  keys: KeyPair;
  /** Undefined for a self-signed certificate; it expires no later than its CA. */
  ca?: Issued;
  now: Date;
  validityMs: number;
}

/** The latest time that a certificate can contain (RFC 5280, 4.1.2.5): years have four digits. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Issues every certificate of this program. @throws {Error} for a key that is neither RSA nor elliptic-curve. */
function issue(
  { keys, ca, now, validityMs }: Request,
  { serial, subject, extensions }: Pick<Contents, 'serial' | 'subject' | 'extensions'>,
): Issued {
  const issuer = ca?.certificate.x509;
  const end = Math.min(now.getTime() + validityMs, issuer?.validToDate.getTime() ?? lastMoment, lastMoment);
  const der = signedCertificate(
    {
      serial,
      subject,
      issuer,
      publicKey: createPublicKey(keys.publicKey),
      notBefore: new Date(Math.ceil(now.getTime() / 1000) * 1000 - backdateMs),
      notAfter: new Date(end),
      extensions: [
        ...extensions,
        ...(issuer ? [{ name: 'authorityKeyIdentifier', keyIdentifier: issuerKeyIdentifier(issuer) }] : []),
      ],
    },
    ca?.key ?? keys.privateKey,
  );
  const read = readCertificates(new X509Certificate(der).toString());
  if (read.state !== 'usable') {
    throw new Error(`the new certificate ${problemOf(read)}`);
  }
  return { certificate: read.value[0], key: keys.privateKey };
}

function alternativeNames(names: readonly string[]) {
  return {
    name: 'subjectAltName',
    altNames: names.map((name) => (isAddress(name) ? { type: 7, ip: withoutDots(name) } : { type: 2, value: name })),
  };
}

/** RFC 5280 limits a common name to 64 characters; clients only read the subject alternative names. */
function commonName(text: string) {
  return { shortName: 'CN', value: text.slice(0, 64) };
}

/** A certificate of a server or a client; without a CA, a self-signed one. */
function issueEndEntity(request: Request, name: string, extensions: object[]): Issued {
  const isCa = request.ca === undefined;
  // Only RSA keys can encipher other keys; a certificate for an elliptic-curve key must not claim that (RFC 8813, 3).
  const keyEncipherment = createPublicKey(request.keys.publicKey).asymmetricKeyType === 'rsa';
  return issue(request, {
    serial: serialNumber(),
    subject: [commonName(name)],
    extensions: [
      { name: 'basicConstraints', critical: true, cA: isCa },
      { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment, keyCertSign: isCa },
      ...extensions,
    ],
  });
}

/** A certificate of a server, for DNS names and IP addresses; the first becomes the common name. */
const issueForServer = (request: Request, names: readonly string[]) =>
  issueEndEntity(request, names[0] as string, [{ name: 'extKeyUsage', serverAuth: true }, alternativeNames(names)]);

/**
 * Creates a CA with a new key. It may sign serving certificates, but no other CA.
 *
 * @param validityMs validity period from `now`, in ms; at most until the year 9999.
 * @param sandbox makes it a sandbox's CA, which the recovery of a webhook's certificates never takes for its own.
 */
export async function issueCa(
  now: Date,
  validityMs: number,
  entropy: Entropy,
  { sandbox = false }: { sandbox?: boolean } = {},
): Promise<Issued> {
  const keys = await entropy.makeKeyPair();
  const serial = serialNumber();
  // No two CAs have the same name, since clients look for an issuer by name.
  const subject = sandbox
    ? [commonName(`extensionconfig-webhook sandbox ${serial.slice(-8)}`)]
    : [
        { shortName: 'O', value: organization },
        commonName(`extensionconfig-webhook CA ${now.toISOString().slice(0, 10)} ${serial.slice(-8)}`),
      ];
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ];
  return issue({ keys, now, validityMs }, { serial, subject, extensions });
}

/** Creates a serving certificate with a new key. */
export async function issueServingCertificate(
  ca: Issued,
  names: readonly string[],
  now: Date,
  validityMs: number,
  entropy: Entropy,
): Promise<Issued> {
  return issueForServer({ keys: await entropy.makeKeyPair(), ca, now, validityMs }, names);
}

/** Creates a client certificate for an existing key. */
export function issueClientCertificate(ca: Issued, name: string, keys: KeyPair, now: Date, validityMs: number): Issued {
  return issueEndEntity({ keys, ca, now, validityMs }, name, [{ name: 'extKeyUsage', clientAuth: true }]);
}

/** Creates a self-signed serving certificate with a new elliptic-curve key, for development. */
export function issueSelfSigned(names: readonly string[], now: Date, validityMs: number): Issued {
  return issueForServer({ keys: makeEllipticKeyPair(), now, validityMs }, names);
}
