import { createHash, randomUUID } from 'node:crypto';

/** Names and UIDs as an API server would generate them. */
export interface Names {
  /** A name with a suffix of five characters, which is the same for the same base and purpose. */
  generated(base: string, purpose: string): string;
  uid(): string;
}

/** Characters of generated names (apimachinery, util/rand). */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Longest base, so that the name remains a valid label. */
const maxBase = 57;

/** Names that are the same in each run, and UIDs that differ. */
export function createNames(uid: () => string = randomUUID): Names {
  return {
    generated(base, purpose) {
      const hash = createHash('sha256').update(`${base} ${purpose}`).digest();
      const suffix = [...hash.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('');
      return `${base.slice(0, maxBase)}-${suffix}`;
    },
    uid,
  };
}
