import type { JsonObject } from '../../kubernetes/index.ts';
import type { DefinitionNames } from './definition.ts';

type Names = Partial<DefinitionNames>;

/** Plural, singular and short names share one set of names, kinds and list kinds the other. */
const sets = { plural: 'resource', singular: 'resource', shortNames: 'resource', kind: 'kind', listKind: 'kind' };
const fields = Object.keys(sets) as (keyof typeof sets)[];

const namesIn = (names: Names, field: keyof typeof sets): string[] => [names[field] ?? []].flat();
const keyOf = (field: keyof typeof sets, name: string) => `${sets[field]} ${name}`;

/** The accepted names of the definitions of one group, each of which has one user. */
export class NamesInUse {
  readonly #users = new Map<string, string>();

  use(user: string, names: Names = {}): void {
    for (const field of fields) {
      for (const name of namesIn(names, field)) {
        this.#users.set(keyOf(field, name), user);
      }
    }
  }

  isTaken(user: string, field: keyof typeof sets, name: string): boolean {
    return (this.#users.get(keyOf(field, name)) ?? user) !== user;
  }
}

/**
 * Decides which of the names that a definition requests are accepted. If a name is taken by another definition, it is
 * rejected, and this definition keeps the names that it had before.
 *
 * @param inUse the names in use in its group.
 */
export function acceptNames(user: string, requested: DefinitionNames, before: Names, inUse: NamesInUse) {
  /** The last conflict found, as the real server reports it. */
  let conflict: { reason: string; message: string } | undefined;
  const { categories } = requested;
  const acceptedNames: JsonObject = { ...(categories === undefined ? {} : { categories }), plural: '', kind: '' };
  for (const field of fields) {
    const known = new Set(namesIn(before, field));
    const duplicates = namesIn(requested, field).filter((name) => !known.has(name) && inUse.isTaken(user, field, name));
    if (duplicates.length > 0) {
      const message = duplicates.map((name) => `${JSON.stringify(name)} is already in use`).join(', ');
      const reason = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}Conflict`;
      conflict = { reason, message: duplicates.length > 1 ? `[${message}]` : message };
    }
    const accepted = (duplicates.length > 0 ? before : requested)[field];
    if (accepted !== undefined && accepted !== '') {
      acceptedNames[field] = accepted;
    }
  }
  return { acceptedNames, conflict };
}
