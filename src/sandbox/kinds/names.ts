import type { JsonObject } from '../../kubernetes/index.ts';
import type { DefinitionNames } from './definition.ts';

/** Counts how many definitions use each name. */
class Counts {
  readonly #counts = new Map<string, number>();

  change(names: readonly (string | undefined)[], by: 1 | -1): void {
    for (const name of names) {
      if (name !== undefined) {
        this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
      }
    }
  }

  has(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0;
  }
}

/** The accepted names of the definitions of one group. */
export class NamesInUse {
  /** Plural, singular and short names share one set. */
  readonly resources = new Counts();
  /** Kinds and list kinds share the other. */
  readonly kinds = new Counts();

  /** Adds the names that a definition uses. */
  add(names: Partial<DefinitionNames> = {}): void {
    this.#change(names, 1);
  }

  /** Removes names that were added. */
  remove(names: Partial<DefinitionNames> = {}): void {
    this.#change(names, -1);
  }

  #change({ plural, singular, shortNames = [], kind, listKind }: Partial<DefinitionNames>, by: 1 | -1): void {
    this.resources.change([plural, singular, ...shortNames], by);
    this.kinds.change([kind, listKind], by);
  }
}

interface NamesDecision {
  acceptedNames: JsonObject;
  /** The last conflict found, as the real server reports it. */
  conflict: { reason: string; message: string } | undefined;
}

/**
 * Decides which of the names that a definition requests are accepted. If a name is taken by another definition, it is
 * rejected, and this definition keeps the names that it had before.
 *
 * @param others the names that the other definitions of the group use.
 */
export function acceptNames(
  requested: DefinitionNames,
  before: Partial<DefinitionNames>,
  others: NamesInUse,
): NamesDecision {
  let conflict: NamesDecision['conflict'];
  const accept = (name: string, taken: Counts, before: string | undefined, reason: string) => {
    if (name === before || !taken.has(name)) {
      return name;
    }
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    return before;
  };
  const plural = accept(requested.plural, others.resources, before.plural, 'PluralConflict');
  const singular = accept(requested.singular, others.resources, before.singular, 'SingularConflict');
  const shortBefore = new Set(before.shortNames);
  const takenShort = (requested.shortNames ?? []).filter(
    (name) => others.resources.has(name) && !shortBefore.has(name),
  );
  if (takenShort.length > 0) {
    const message = takenShort.map((name) => `${JSON.stringify(name)} is already in use`).join(', ');
    conflict = { reason: 'ShortNamesConflict', message: takenShort.length > 1 ? `[${message}]` : message };
  }
  const shortNames = takenShort.length > 0 ? before.shortNames : requested.shortNames;
  const kind = accept(requested.kind, others.kinds, before.kind, 'KindConflict');
  const listKind = accept(requested.listKind, others.kinds, before.listKind, 'ListKindConflict');
  const acceptedNames: JsonObject = {
    ...(requested.categories === undefined ? {} : { categories: requested.categories }),
    kind: kind ?? '',
    ...(listKind ? { listKind } : {}),
    plural: plural ?? '',
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(singular ? { singular } : {}),
  };
  return { acceptedNames, conflict };
}
