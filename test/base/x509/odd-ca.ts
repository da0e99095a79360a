import { createPublicKey, X509Certificate } from 'node:crypto';
import { type Issued, readCertificates, signedCertificate, usable } from '../../../src/base/x509/index.ts';
import { type KeyPair, keysOn } from './keys.ts';

function selfIssued(
  { privateKey, publicKey }: KeyPair,
  signing: string,
  subject: string,
  serial: string,
  [notBefore, notAfter]: [Date, Date],
): Issued {
  const contents = {
    serial,
    subject: [{ shortName: 'CN', value: subject }],
    issuer: undefined,
    publicKey: createPublicKey(publicKey),
    notBefore,
    notAfter,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true },
      { name: 'keyUsage', critical: true, keyCertSign: true },
    ],
  };
  const read = usable(readCertificates(new X509Certificate(signedCertificate(contents, signing)).toString()));
  return { certificate: read![0], key: privateKey };
}

/** A CA of a user, with a key of any kind that can sign. */
export const usersCa = (now: Date, validityMs: number, keys: KeyPair, subject = 'Own CA'): Issued =>
  selfIssued(keys, keys.privateKey, subject, '01', [now, new Date(now.getTime() + validityMs)]);

/** A CA with a key signed by another key; by default one that signs nothing here, on P-224, which API servers accept. */
export const oddCa = (now: Date, validityMs: number, keys: KeyPair = keysOn('secp224r1'), serial = '01'): Issued =>
  selfIssued(keys, keysOn('P-256').privateKey, 'Odd CA', serial, [now, new Date(now.getTime() + validityMs)]);

/** Key pairs on a curve that API servers do not support, and in forms that they do not parse. */
export function unreadableKeys(): [string, KeyPair][] {
  const pair = keysOn('P-256');
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
    ['secp256k1', keysOn('secp256k1')],
    ['explicit', keysOn('P-256', 'explicit')],
    ['compressed', { ...pair, publicKey: asPem as string }],
  ];
}
