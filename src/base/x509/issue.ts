import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import forge, { type asn1 as Forge, type pki as Pki } from 'node-forge';
import { FailureError } from '../errors.ts';
import { type Certificate, isAddress, problemOf, readCertificates } from './certificate.ts';
import { type SignatureAlgorithm, signatureOf, signingProblem } from './signature.ts';

const { asn1, pki } = forge;
const { Class, Type } = asn1;

type Asn1 = Forge.Asn1;

/** Parts of node-forge's public API that are missing from its types. */
interface Untyped {
  asn1: { fromDer(bytes: string, options: { decodeBitStrings: boolean }): Asn1 };
  pki: { certificateExtensionsToAsn1(extensions: unknown): Asn1 };
}

interface Contents {
  serial: string;
  subject: Pki.CertificateField[];
  /** The CA; undefined for a self-signed certificate. */
  issuer: X509Certificate | undefined;
  publicKey: KeyObject;
  notBefore: Date;
  notAfter: Date;
  /** In node-forge's notation, and complete except for subjectKeyIdentifier. */
  extensions: object[];
}

function universal(type: Forge.Type, value: string | Asn1[]): Asn1 {
  return asn1.create(Class.UNIVERSAL, type, typeof value !== 'string', value);
}

/** Parses DER, but not the content of bit strings: node-forge would mistake a point on an elliptic curve for DER. */
function parsed(der: Buffer): Asn1[] {
  return (asn1 as unknown as Untyped['asn1']).fromDer(der.toString('latin1'), { decodeBitStrings: false })
    .value as Asn1[];
}

function publicKeyInfo(publicKey: KeyObject): [Asn1, Asn1] {
  return parsed(publicKey.export({ type: 'spki', format: 'der' })) as [Asn1, Asn1];
}

/** RFC 5280, 4.2.1.2, method 1: SHA-1 of the bits of the public key. */
function keyIdentifier([, bits]: [Asn1, Asn1]): string {
  return createHash('sha1')
    .update((bits.value as string).slice(1), 'latin1')
    .digest()
    .toString('latin1');
}

function identifierOf({ oid, hasNull }: SignatureAlgorithm): Asn1 {
  const parameters = hasNull ? [universal(Type.NULL, '')] : [];
  return universal(Type.SEQUENCE, [universal(Type.OID, asn1.oidToDer(oid).getBytes()), ...parameters]);
}

function time(date: Date): Asn1 {
  const year = date.getUTCFullYear();
  return year >= 1950 && year < 2050
    ? universal(Type.UTCTIME, asn1.dateToUtcTime(date))
    : universal(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const subjectKeyIdentifierOid = '2.5.29.14';

/** The key identifier of a CA by which clients find it: its own (RFC 5280, 4.2.1.1), or else the one of its key. */
function issuerKeyIdentifier(ca: X509Certificate): string {
  const [{ value }] = parsed(ca.raw) as [Asn1];
  // Extensions are last; a CA has some.
  const [extensions] = (value as Asn1[]).at(-1)?.value as [Asn1];
  for (const extension of extensions.value as Asn1[]) {
    const [oid, ...rest] = extension.value as [Asn1, ...Asn1[]];
    if (asn1.derToOid(oid.value as string) === subjectKeyIdentifierOid) {
      return asn1.fromDer(rest.at(-1)?.value as string).value as string;
    }
  }
  return keyIdentifier(publicKeyInfo(ca.publicKey));
}

/** The subject of a certificate, byte for byte, since clients compare it with the issuer of other certificates. */
function subjectOf(certificate: X509Certificate): Asn1 {
  const [{ value }] = parsed(certificate.raw) as [Asn1];
  // Version, serial number, algorithm, issuer, validity, subject; a CA has a version.
  return (value as Asn1[])[5] as Asn1;
}

/** A certificate in DER, signed by node:crypto: node-forge takes some 50 ms, and signs with RSA keys only. */
export function signedCertificate(contents: Contents, issuerKey: string): Buffer {
  const der = (node: Asn1) => Buffer.from(asn1.toDer(node).getBytes(), 'latin1');
  // Fills in what names and extensions omit.
  const form = pki.createCertificate();
  form.setSubject(contents.subject);
  const keyInfo = publicKeyInfo(contents.publicKey);
  const identifier = universal(Type.OCTETSTRING, keyIdentifier(keyInfo));
  form.setExtensions([...contents.extensions, { name: 'subjectKeyIdentifier', value: identifier }]);
  const { certificateExtensionsToAsn1 } = pki as unknown as Untyped['pki'];
  const subject = pki.distinguishedNameToAsn1(form.subject);
  const key = createPrivateKey(issuerKey);
  const signature = signatureOf(key);
  if (signature === undefined) {
    throw new FailureError(`no certificate can be signed: the key ${signingProblem(key)}`);
  }
  const algorithm = identifierOf(signature);
  const toBeSigned = universal(Type.SEQUENCE, [
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [universal(Type.INTEGER, '\x02')]),
    universal(Type.INTEGER, Buffer.from(contents.serial, 'hex').toString('latin1')),
    algorithm,
    contents.issuer === undefined ? subject : subjectOf(contents.issuer),
    universal(Type.SEQUENCE, [time(contents.notBefore), time(contents.notAfter)]),
    subject,
    universal(Type.SEQUENCE, keyInfo),
    certificateExtensionsToAsn1(form.extensions),
  ]);
  const signed = sign(signature.hash, der(toBeSigned), key).toString('latin1');
  return der(universal(Type.SEQUENCE, [toBeSigned, algorithm, universal(Type.BITSTRING, `\0${signed}`)]));
}

/** How far notBefore precedes the time of issue, in ms, because clients' clocks may be slow. */
export const backdateMs = 5 * 60_000;

/** Organization in the subject of every CA that this program creates for a webhook, by which recovery knows it. */
export const organization = 'extensionconfig-webhook';

export interface Issued {
  certificate: Certificate;
  /** PEM (PKCS #8). */
  key: string;
}

/** A random serial number of 128 bits in hex, positive and without a leading zero byte in DER (RFC 5280, 4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

/** The latest time that a certificate can contain (RFC 5280, 4.1.2.5): years have four digits. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59);

interface Request {
  /** Undefined for a self-signed certificate; it expires no later than its CA. */
  ca?: Issued;
  now: Date;
  validityMs: number;
}

/** Issues every certificate of this program, with a new key: on P-256, which every client supports. */
function issue(
  { ca, now, validityMs }: Request,
  { serial, subject, extensions }: Pick<Contents, 'serial' | 'subject' | 'extensions'>,
): Issued {
  const { privateKey: key, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const issuer = ca?.certificate.x509;
  const end = Math.min(now.getTime() + validityMs, issuer?.validToDate.getTime() ?? lastMoment, lastMoment);
  const der = signedCertificate(
    {
      serial,
      subject,
      issuer,
      publicKey: createPublicKey(publicKey),
      notBefore: new Date(Math.ceil(now.getTime() / 1000) * 1000 - backdateMs),
      notAfter: new Date(end),
      extensions: [
        ...extensions,
        ...(issuer ? [{ name: 'authorityKeyIdentifier', keyIdentifier: issuerKeyIdentifier(issuer) }] : []),
      ],
    },
    ca?.key ?? key,
  );
  const read = readCertificates(new X509Certificate(der).toString());
  if (read.state !== 'usable') {
    throw new Error(`the new certificate ${problemOf(read)}`);
  }
  return { certificate: read.value[0], key };
}

/** RFC 5280 limits a common name to 64 characters; clients only read the subject alternative names. */
function commonName(text: string) {
  return { shortName: 'CN', value: text.slice(0, 64) };
}

function issueEndEntity(request: Request, name: string, extensions: object[]): Issued {
  const isCa = request.ca === undefined;
  return issue(request, {
    serial: serialNumber(),
    subject: [commonName(name)],
    extensions: [
      { name: 'basicConstraints', critical: true, cA: isCa },
      { name: 'keyUsage', critical: true, digitalSignature: true, keyCertSign: isCa },
      ...extensions,
    ],
  });
}

/** An IP address without an IPv4 address in it: node-forge encodes `::ffff:10.0.0.1` as another address, or not at all. */
function withoutDots(address: string): string {
  return address.includes(':') ? new URL(`https://[${address}]`).hostname.slice(1, -1) : address;
}

/** A certificate of a server, for DNS names and IP addresses; the first becomes the common name. */
function issueForServer(request: Request, names: readonly string[]): Issued {
  const altNames = names.map((name) =>
    isAddress(name) ? { type: 7, ip: withoutDots(name) } : { type: 2, value: name },
  );
  return issueEndEntity(request, names[0] as string, [
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
  ]);
}

/**
 * Creates a CA with a new key, valid for `validityMs` from `now`. It may sign serving certificates, but no other CA.
 * @param sandbox makes it a sandbox's CA, which the recovery of a webhook's certificates never takes for its own.
 */
export function issueCa(now: Date, validityMs: number, { sandbox = false }: { sandbox?: boolean } = {}): Issued {
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
  return issue({ now, validityMs }, { serial, subject, extensions });
}

/** Creates a serving certificate with a new key, valid for `validityMs`, no longer than its CA. @throws {FailureError} for a CA whose key cannot sign. */
export function issueServingCertificate(ca: Issued, names: readonly string[], now: Date, validityMs: number): Issued {
  return issueForServer({ ca, now, validityMs }, names);
}

/** Creates a client certificate with a new key, valid for `validityMs`. @throws {FailureError} for a CA whose key cannot sign. */
export function issueClientCertificate(ca: Issued, name: string, now: Date, validityMs: number): Issued {
  return issueEndEntity({ ca, now, validityMs }, name, [{ name: 'extKeyUsage', clientAuth: true }]);
}

/** Creates a self-signed serving certificate with a new key, valid for `validityMs`, for development. */
export function issueSelfSigned(names: readonly string[], now: Date, validityMs: number): Issued {
  return issueForServer({ now, validityMs }, names);
}
