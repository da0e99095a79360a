import type { AsymmetricKeyDetails, KeyObject } from 'node:crypto';

export interface SignatureAlgorithm {
  hash: 'sha256' | 'sha384' | 'sha512';
  oid: string;
  /** Whether the identifier has parameters, which are NULL. */
  hasNull: boolean;
}

/** RSA with SHA-256 (RFC 4055, 5). */
const rsa: SignatureAlgorithm = { hash: 'sha256', oid: '1.2.840.113549.1.1.11', hasNull: true };

/** ECDSA (RFC 5758, 3.2), each curve with the hash that TLS 1.3 assigns to it (RFC 8446, 4.2.3). */
const byCurve = new Map<string | undefined, SignatureAlgorithm>([
  ['prime256v1', { hash: 'sha256', oid: '1.2.840.10045.4.3.2', hasNull: false }],
  ['secp384r1', { hash: 'sha384', oid: '1.2.840.10045.4.3.3', hasNull: false }],
  ['secp521r1', { hash: 'sha512', oid: '1.2.840.10045.4.3.4', hasNull: false }],
]);

const detailsOf = (key: KeyObject) => key.asymmetricKeyDetails as AsymmetricKeyDetails;

/** The algorithm with which a key signs certificates, if all clients of a webhook support one for it. */
export function signatureOf(key: KeyObject): SignatureAlgorithm | undefined {
  const { asymmetricKeyType: type } = key;
  // The details of an RSA key take longer to read than everything else here.
  return type === 'ec' ? byCurve.get(detailsOf(key).namedCurve) : type === 'rsa' ? rsa : undefined;
}

const remedy = 'use an RSA key, or an EC key on P-256, P-384 or P-521';

/**
 * The curves that Go supports. The DER of a public key that every client can read has a named curve and an uncompressed
 * point: lengths in bytes of the whole, and of the point at its end, which is a 4 and both coordinates.
 */
const usualForms = new Map<string | undefined, { length: number; point: number }>([
  ['secp224r1', { length: 80, point: 57 }],
  ['prime256v1', { length: 91, point: 65 }],
  ['secp384r1', { length: 120, point: 97 }],
  ['secp521r1', { length: 158, point: 133 }],
]);

/** Why API servers cannot read a certificate with this key (Go, x509.ParseCertificate), and ignore it in a bundle. */
export function unreadableProblem(key: KeyObject): string | undefined {
  if (key.asymmetricKeyType !== 'ec') {
    return undefined;
  }
  const { namedCurve } = detailsOf(key);
  const usual = usualForms.get(namedCurve);
  if (usual === undefined) {
    return `has a key on ${namedCurve ?? 'an unnamed curve'}, which API servers cannot parse: ${remedy}`;
  }
  const der = key.export({ type: 'spki', format: 'der' });
  return der.length === usual.length && der.at(-usual.point) === 4
    ? undefined
    : 'has a key in compressed form, or with explicit curve parameters instead of a named curve, which API servers cannot parse: generate an uncompressed one with a named curve';
}

function typeOf(key: KeyObject): string {
  const { asymmetricKeyType: type } = key;
  return type === 'ec' ? `${type} on ${detailsOf(key).namedCurve ?? 'an unnamed curve'}` : String(type);
}

/** Why no API server completes a handshake with a server that has this key (Go, crypto/tls), if so. */
export function handshakeProblem(key: KeyObject): string | undefined {
  return signatureOf(key) !== undefined || key.asymmetricKeyType === 'ed25519'
    ? undefined
    : `has a key of type ${typeOf(key)}, which API servers and Cluster API do not support in TLS: ${remedy}`;
}

/** Go (1.24 and later) neither makes nor accepts signatures of shorter RSA keys. */
const minRsaBits = 1024;

/** Why a key cannot sign certificates here, as the end of a sentence; undefined if it can. */
export function signingProblem(key: KeyObject): string | undefined {
  if (signatureOf(key) !== undefined) {
    const bits = detailsOf(key).modulusLength ?? minRsaBits;
    return bits < minRsaBits
      ? `has ${bits} bits, and API servers refuse signatures of RSA keys below ${minRsaBits}: use one of 2048 bits or more`
      : undefined;
  }
  return `is of type ${typeOf(key)}, which is not supported for signing: ${remedy}`;
}
