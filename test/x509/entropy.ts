import { type Entropy, systemEntropy } from '../../src/x509/index.ts';

const pool = await Promise.all(Array.from({ length: 8 }, () => systemEntropy.makeKeyPair()));
let taken = 0;
/** Keys from a small pool: tests make hundreds of certificates, and only the certificates need to differ. */
export const quickEntropy: Entropy = {
  makeKeyPair: async () => pool[taken++ % pool.length]!,
  randomBytes: systemEntropy.randomBytes,
};

/** In ms. */
export const day = 86_400_000;
