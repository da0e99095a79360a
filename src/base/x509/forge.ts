import { createHash, createPrivateKey, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import forge, { type asn1 as Forge, type pki as Pki } from 'node-forge';
import { FailureError } from '../errors.ts';
import { type SignatureAlgorithm, signatureOf, signingProblem } from './signature.ts';

const { asn1, pki } = forge;
const { Class, Type } = asn1;

type Asn1 = Forge.Asn1;

/** Parts of node-forge's public API that are missing from its types. */
interface Untyped {
  asn1: { fromDer(bytes: string, options: { decodeBitStrings: boolean }): Asn1 };
  pki: { certificateExtensionsToAsn1(extensions: unknown): Asn1 };
}

/** Everything that differs between certificates, apart from the signer. */
export interface Contents {
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

/** RFC 5280, 4.1.2.5. */
function time(date: Date): Asn1 {
  const year = date.getUTCFullYear();
  return year >= 1950 && year < 2050
    ? universal(Type.UTCTIME, asn1.dateToUtcTime(date))
    : universal(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const subjectKeyIdentifierOid = '2.5.29.14';

/** The key identifier of a CA by which clients find it: its own (RFC 5280, 4.2.1.1), or else the one of its key. */
export function issuerKeyIdentifier(ca: X509Certificate): string {
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
    // Version 3.
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
