import { createHash, randomUUID } from 'node:crypto';

/** Characters of generated names (apimachinery, util/rand). */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Longest name, and how much of it remains with a suffix, so that it is a valid label. */
const maxName = 63;
const maxGenerated = 58;

const action = /\{\{-? {0,10}\.([A-Za-z.]{1,60}) {0,10}-?\}\}/g;

/** Names and UIDs as an API server would generate them: names are the same in each run, and UIDs differ. */
export function createNames(uid: () => string = randomUUID) {
  const suffix = (base: string, purpose: string): string => {
    const hash = createHash('sha256').update(`${base} ${purpose}`).digest();
    return [...hash.subarray(0, 5)].map((byte) => letters[byte % letters.length]).join('');
  };
  return {
    /** A name with a suffix of five characters, which is the same for the same base and purpose. */
    generated: (base: string, purpose: string): string =>
      `${`${base}-`.slice(0, maxGenerated)}${suffix(base, purpose)}`,
    /**
     * A name by the naming template of a class, such as `{{ .cluster.name }}-{{ .random }}`.
     *
     * @param values of its fields, such as `cluster.name`.
     * @returns undefined for a template that does more than to name fields.
     */
    rendered(template: string, values: Readonly<Record<string, string>>, purpose: string): string | undefined {
      const random = suffix(Object.values(values).join('-'), purpose);
      const all: Readonly<Record<string, string>> = { ...values, random };
      const name = template.replaceAll(action, (text, field: string) => all[field] ?? text);
      if (name.includes('{{')) {
        return undefined;
      }
      return name.length > maxName ? `${name.slice(0, maxGenerated)}${random}` : name;
    },
    uid,
  };
}

export type Names = ReturnType<typeof createNames>;
