/**
 * The changes between two adjacent versions that their schemas do not show. Paths are written `status.handlers[].name`:
 * `[]` means the items of a list, `{}` the values of a map.
 *
 * A field that no entry names becomes the field with the same name in the other version, or else the field whose name
 * differs only in case, since acronyms are often respelled between versions (`URL` and `url`).
 */
export interface ChangeTable {
  /** Fields that were renamed or moved: path in the older version → path in the newer one. */
  moves?: Readonly<Record<string, string>> | undefined;
  /** Fields of the older version that the newer one does not have. They are dropped. */
  removed?: readonly string[] | undefined;
  /** Fields of the newer version that the older one does not have. They are dropped. */
  added?: readonly string[] | undefined;
  /** Fields that the hand-written steps convert; the automatic part skips them. */
  byHand?: { older?: readonly string[] | undefined; newer?: readonly string[] | undefined } | undefined;
  /**
   * Fields for which one version has tighter limits than the other: `drop` drops values beyond the limits; `pass` copies
   * them nevertheless.
   */
  tighter?: Readonly<Record<string, 'drop' | 'pass'>> | undefined;
}

/**
 * A table from the point of view of one direction: each `path` is in the version to convert from, each `toPath` in the
 * version to convert to. Looking up an entry marks it as matched.
 */
export interface DirectedTable {
  /** The target path of a field that moves. */
  targetOf(path: string): string | undefined;
  /** The field that moves to a path. */
  sourceOf(toPath: string): string | undefined;
  /** Whether a field below a path moves elsewhere. */
  hasMoveBelow(path: string): boolean;
  /** Whether the other version does not have a field. */
  isRemoved(path: string): boolean;
  /** Whether the hand-written step converts a field. */
  isReadByHand(path: string): boolean;
  /** Whether the hand-written step writes a field. */
  isWrittenByHand(toPath: string): boolean;
  /** Whether an entry names the source of a field, or states that it has none. */
  hasSource(toPath: string): boolean;
  /** How values beyond the limits of a field are handled; the table lists the field by its path in either version. */
  treatmentOf(path: string, toPath: string): 'drop' | 'pass' | undefined;
}

/** A table as seen from both directions. */
interface ReadTable {
  toNewer: DirectedTable;
  toOlder: DirectedTable;
  /** Problems with the table itself, once both directions have been compiled, one line each. */
  problems(): string[];
}

/** The entries for fields of one version. */
interface Side {
  only: ReadonlySet<string>;
  byHand: ReadonlySet<string>;
}

function sideOf(only: readonly string[] = [], byHand: readonly string[] = []): Side {
  return { only: new Set(only), byHand: new Set(byHand) };
}

/** The ancestors of a path: `a`, `a.b` and `a.b[]` for `a.b[].c`. */
function pathsAbove(path: string): string[] {
  return [...path.matchAll(/[.[{]/g)].map(({ index }) => path.slice(0, index));
}

/** Adds to `matched` the entries that match something, in the notation of `problems`. */
function directTable(
  moves: ReadonlyMap<string, string>,
  from: Side,
  to: Side,
  tighter: ReadonlyMap<string, 'drop' | 'pass'>,
  matched: Set<string>,
): DirectedTable {
  const sources = new Map([...moves].map(([path, toPath]) => [toPath, path]));
  const pathsAboveMoves = new Set([...moves.keys()].flatMap(pathsAbove));

  function isListed(paths: ReadonlySet<string>, list: 'only' | 'byHand', path: string): boolean {
    const found = paths.has(path);
    if (found) {
      matched.add(`${list} ${path}`);
    }
    return found;
  }

  return {
    targetOf(path) {
      const target = moves.get(path);
      if (target !== undefined) {
        matched.add(`moves ${path} ${target}`);
      }
      return target;
    },
    sourceOf: (toPath) => sources.get(toPath),
    hasMoveBelow: (path) => pathsAboveMoves.has(path),
    isRemoved: (path) => isListed(from.only, 'only', path),
    isReadByHand: (path) => isListed(from.byHand, 'byHand', path),
    isWrittenByHand: (toPath) => to.byHand.has(toPath),
    hasSource: (toPath) => sources.has(toPath) || to.only.has(toPath) || to.byHand.has(toPath),
    treatmentOf(path, toPath) {
      const listed = tighter.has(path) ? path : toPath;
      matched.add(`tighter ${listed}`);
      return tighter.get(listed);
    },
  };
}

/** Reads a table for both directions. */
export function readTable(table: ChangeTable): ReadTable {
  const moves = Object.entries(table.moves ?? {});
  const movesBack = new Map(moves.map(([from, to]) => [to, from]));
  const older = sideOf(table.removed, table.byHand?.older);
  const newer = sideOf(table.added, table.byHand?.newer);
  const tighter = new Map(Object.entries(table.tighter ?? {}));
  const matched = { toNewer: new Set<string>(), toOlder: new Set<string>() };

  return {
    toNewer: directTable(new Map(moves), older, newer, tighter, matched.toNewer),
    toOlder: directTable(movesBack, newer, older, tighter, matched.toOlder),
    problems() {
      const unmatched = (entries: readonly string[], ...seen: readonly ReadonlySet<string>[]) =>
        entries
          .filter((entry) => !seen.some((those) => those.has(entry)))
          .map((entry) => `${entry}: listed, but matches nothing`);
      const listed = (list: string, paths: Iterable<string>) => [...paths].map((path) => `${list} ${path}`);
      return [
        ...(movesBack.size < moves.length ? ['two moves have the same target'] : []),
        ...unmatched(
          moves.map(([from, to]) => `moves ${from} ${to}`),
          matched.toNewer,
        ),
        ...unmatched(
          moves.map(([from, to]) => `moves ${to} ${from}`),
          matched.toOlder,
        ),
        ...unmatched(listed('only', older.only), matched.toNewer),
        ...unmatched(listed('only', newer.only), matched.toOlder),
        ...unmatched(listed('byHand', older.byHand), matched.toNewer),
        ...unmatched(listed('byHand', newer.byHand), matched.toOlder),
        ...unmatched(listed('tighter', tighter.keys()), matched.toNewer, matched.toOlder),
      ];
    },
  };
}
