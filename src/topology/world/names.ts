import { hash } from 'node:crypto';

/** Characters of generated names (apimachinery, util/rand). */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Longest name, and how much of it remains with a suffix, so that it is a valid label. */
const maxName = 63;
const maxGenerated = 58;

const action = /\{\{-? {0,10}\.([A-Za-z.]{1,60}) {0,10}-?\}\}/g;

// Names are as an API server would generate them, but the same in each run.

function suffixFor(base: string, purpose: string): string {
  const digest = hash('sha256', `${base} ${purpose}`, 'buffer');
  return [...digest.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('');
}

/** A name with a suffix of five characters, which is the same for the same base and purpose. */
export const generatedName = (base: string, purpose: string): string =>
  `${`${base}-`.slice(0, maxGenerated)}${suffixFor(base, purpose)}`;

const generatedSuffix = new RegExp(`-[${letters}]{5}$`);

/** A name that was made up for an object that does not exist yet, as it is shown: `f1-md-0-…`. */
export const madeUp = (name: string): string => name.replace(generatedSuffix, '-…');

/**
 * A name by the naming template of a class, such as `{{ .cluster.name }}-{{ .random }}`; a generated one without a template,
 * and for one that does more than to name fields.
 *
 * @param values of its fields, such as `cluster.name`.
 */
export function nameFor(
  template: string,
  values: Readonly<Record<string, string>>,
  base: string,
  purpose: string,
): string {
  if (template === '') {
    return generatedName(base, purpose);
  }
  const random = suffixFor(Object.values(values).join('-'), purpose);
  const all: Readonly<Record<string, string>> = { ...values, random };
  const name = template.replaceAll(action, (text, field: string) => all[field] ?? text);
  if (name.includes('{{')) {
    return generatedName(base, purpose);
  }
  return name.length > maxName ? `${name.slice(0, maxGenerated)}${random}` : name;
}
