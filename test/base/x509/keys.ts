import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A key pair in PEM. */
export interface KeyPair {
  privateKey: string;
  publicKey: string;
}

const file = new URL('../../support/fixtures/certs/rsa-keys.pem', import.meta.url);
let given = 0;
/** A different RSA key each time, in rotation: to make one takes 40 ms of CPU time. */
export function rsaKeys(): KeyPair {
  const keys = readFileSync(file, 'utf8').split(/(?<=END PRIVATE KEY-----\n)/);
  const privateKey = keys[given++ % keys.length]!;
  return { privateKey, publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString() };
}

/** New keys on a curve. */
export function keysOn(
  namedCurve: 'P-256' | 'P-384' | 'P-521' | 'secp224r1' | 'secp256k1',
  paramEncoding: 'named' | 'explicit' = 'named',
): KeyPair {
  return generateKeyPairSync('ec', {
    namedCurve,
    paramEncoding,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/** In ms. */
export const day = 86_400_000;
