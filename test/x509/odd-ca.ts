import { createPublicKey, X509Certificate } from 'node:crypto';
import { signedCertificate } from '../../src/x509/forge.ts';
import { type Issued, readCertificates, usable } from '../../src/x509/index.ts';
import { entropyOn } from './entropy.ts';

/** A CA with a key that signs nothing here, on secp256k1: API servers do not know that curve. Another key has signed it. */
export async function oddCa(now: Date, validityMs: number): Promise<Issued> {
  const { privateKey, publicKey } = await entropyOn('secp256k1').makeKeyPair();
  const { privateKey: signing } = await entropyOn('P-256').makeKeyPair();
  const contents = {
    serial: '01',
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
