import { generateKeyPairSync } from 'node:crypto';
import { type Entropy, systemEntropy } from '../../../src/base/x509/index.ts';

const pool = await Promise.all(Array.from({ length: 8 }, () => systemEntropy.makeKeyPair()));
let taken = 0;
/** RSA keys from a small pool: tests make hundreds of certificates, and only the certificates need to differ. */
export const rsaEntropy: Entropy = {
  makeKeyPair: async () => pool[taken++ % pool.length]!,
};

/** Keys on a curve, newly generated each time. */
export function entropyOn(
  namedCurve: 'P-256' | 'P-384' | 'P-521' | 'secp224r1' | 'secp256k1',
  paramEncoding: 'named' | 'explicit' = 'named',
): Entropy {
  return {
    makeKeyPair: async () =>
      generateKeyPairSync('ec', {
        namedCurve,
        paramEncoding,
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        publicKeyEncoding: { type: 'spki', format: 'pem' },
      }),
  };
}

/** In ms. */
export const day = 86_400_000;
