import { createPublicKey, X509Certificate } from 'node:crypto';
import type { KeyPair } from '../../../src/base/x509/index.ts';
import { type Issued, readCertificates, signedCertificate, usable } from '../../../src/base/x509/index.ts';
import { entropyOn } from './entropy.ts';

/**
 * A CA with a key signed by another key; by default one that signs nothing here, on P-224, which API servers accept.
 */
export async function oddCa(
  now: Date,
  validityMs: number,
  keys: KeyPair | Promise<KeyPair> = entropyOn('secp224r1').makeKeyPair(),
  serial = '01',
): Promise<Issued> {
  const { privateKey, publicKey } = await keys;
  const { privateKey: signing } = await entropyOn('P-256').makeKeyPair();
  const contents = {
    serial,
    subject: [{ shortName: 'CN', value: 'Odd CA' }],
    issuer: undefined,
    publicKey: createPublicKey(publicKey),
    notBefore: now,
    notAfter: new Date(now.getTime() + validityMs),
    extensions: [{ name: 'basicConstraints', critical: true, cA: true }],
  };
  const read = usable(readCertificates(new X509Certificate(signedCertificate(contents, signing)).toString()));
  return { certificate: read![0], key: privateKey };
}

/** Key pairs on a curve that API servers do not support, and in forms that they do not parse. */
export async function unreadableKeys(): Promise<[string, KeyPair][]> {
  const pair = await entropyOn('P-256').makeKeyPair();
  const der = createPublicKey(pair.publicKey).export({ type: 'spki', format: 'der' });
  // The last 65 bytes are the point: 4 and both coordinates. A compressed point has 2 or 3 and the first coordinate.
  const point = der.subarray(-65);
  const compressed = Buffer.from([...der.subarray(0, -65), 2 + ((point[64] as number) & 1), ...point.subarray(1, 33)]);
  // The lengths of the whole and of the bit string.
  compressed[1] = compressed.length - 2;
  compressed[24] = 34;
  const asPem = createPublicKey({ key: compressed, type: 'spki', format: 'der' }).export({
    type: 'spki',
    format: 'pem',
  });
  return [
    ['secp256k1', await entropyOn('secp256k1').makeKeyPair()],
    ['explicit', await entropyOn('P-256', 'explicit').makeKeyPair()],
    ['compressed', { ...pair, publicKey: asPem as string }],
  ];
}
