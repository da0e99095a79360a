import type { JsonObject } from '../../kubernetes/index.ts';
import type { DefinitionNames } from './definition.ts';

type Names = Partial<DefinitionNames>;

/** The accepted names of the definitions of one group, each of which has one user. */
export class NamesInUse {
  /** Plural, singular and short names share one set, kinds and list kinds the other. */
  readonly resources = new Map<string | undefined, string>();
  readonly kinds = new Map<string | undefined, string>();

  /** Replaces the names that a definition uses. */
  use(user: string, { plural, singular, shortNames = [], kind, listKind }: Names = {}, before: Names = {}): void {
    for (const name of [before.plural, before.singular, ...(before.shortNames ?? [])]) {
      this.resources.delete(name);
    }
    for (const name of [before.kind, before.listKind]) {
      this.kinds.delete(name);
    }
    for (const name of [plural, singular, ...shortNames]) {
      this.resources.set(name, user);
    }
    for (const name of [kind, listKind]) {
      this.kinds.set(name, user);
    }
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
 * @param inUse the names in use in its group.
 */
export function acceptNames(
  user: string,
  requested: DefinitionNames,
  before: Names,
  { resources, kinds }: NamesInUse,
): NamesDecision {
  let conflict: NamesDecision['conflict'];
  const isTaken = (name: string, names: ReadonlyMap<string | undefined, string>) => (names.get(name) ?? user) !== user;
  const accept = (field: 'plural' | 'singular' | 'kind' | 'listKind', names: Map<string | undefined, string>) => {
    const name = requested[field];
    if (name === before[field] || !isTaken(name, names)) {
      return name;
    }
    const reason = `${field.slice(0, 1).toUpperCase()}${field.slice(1)}Conflict`;
    conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    return before[field];
  };
  const [plural, singular] = [accept('plural', resources), accept('singular', resources)];
  const shortBefore = new Set(before.shortNames);
  const takenShort = requested.shortNames?.filter((name) => isTaken(name, resources) && !shortBefore.has(name)) ?? [];
  if (takenShort.length > 0) {
    const message = takenShort.map((name) => `${JSON.stringify(name)} is already in use`).join(', ');
    conflict = { reason: 'ShortNamesConflict', message: takenShort.length > 1 ? `[${message}]` : message };
  }
  const shortNames = takenShort.length > 0 ? before.shortNames : requested.shortNames;
  const [kind, listKind] = [accept('kind', kinds), accept('listKind', kinds)];
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
