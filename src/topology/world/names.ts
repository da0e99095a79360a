import { hash } from 'node:crypto';

/** Characters of generated names (apimachinery, util/rand). */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Longest name, and how much of it remains with a suffix, so that it is a valid label. */
const maxName = 63;
const maxGenerated = 58;

/** A suffix as an API server would generate it, but the same for the same base and purpose. */
export function suffixFor(base: string, purpose: string): string {
  const digest = hash('sha256', `${base} ${purpose}`, 'buffer');
  return [...digest.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('');
}

/** A name with such a suffix, which has five characters. */
export const generatedName = (base: string, purpose: string): string =>
  `${`${base}-`.slice(0, maxGenerated)}${suffixFor(base, purpose)}`;

/** A name that a template makes: the end of one that is too long is random. */
export const shortened = (name: string, random: string): string =>
  name.length > maxName ? `${name.slice(0, maxGenerated)}${random}` : name;

const generatedSuffix = new RegExp(`-[${letters}]{5}$`);

/** A name that was made up for an object that does not exist yet, as it is shown: `f1-md-0-…`. */
export const madeUp = (name: string): string => name.replace(generatedSuffix, '-…');
