import { join } from 'node:path';
import { doorsIn, foldersOf, type Imports, readImports } from './imports.ts';

/** A test or tool that enters rooms past their doors. */
export interface Exception {
  file: string;
  /** The folders below `src/` whose doors it passes. */
  enters: readonly string[];
  reason: string;
}

/** The only ones. */
export const exceptions: readonly Exception[] = [
  { file: 'tools/generate/validators.ts', enters: ['extensionconfig'], reason: 'generates files of that wing' },
  {
    file: 'tools/generate/program-report.ts',
    enters: ['server', 'runtimehooks/client', 'extension', 'webhook', 'controller'],
    reason: 'lists the metrics of servers and controllers without starting them',
  },
  {
    file: 'tools/fuzz/decoders.ts',
    enters: ['kubernetes/client', 'sandbox', 'sandbox/openapi-documents'],
    reason: 'sends millions of inputs to decoders, without the server in front of them, and knows their errors',
  },
];

/** The room that a file is in: two folders at most, `wing/room` or, for the files of a wing itself, `wing`. */
const roomOf = (file: string) => foldersOf(file).slice(0, 2).at(-1);

/** The files of `src/` that each file of `test/` and `tools/` imports, by the path of the file. */
function sourceImports(root: string): Imports {
  return new Map(
    ['test', 'tools'].flatMap((tree) =>
      [...readImports(join(root, tree))].map(([file, targets]) => {
        const entries = [...targets].filter((target) => target.startsWith('../src/'));
        return [join(tree, file), new Set(entries.map((target) => target.slice('../src/'.length)))];
      }),
    ),
  );
}

/** How many imports by tests may pass the doors, to test a detail that no door shows. Lower it when there are fewer. */
export const mostInside = 44;

/** The violation of a limit on the imports by tests of other files in `src/` than doors, entry points and the program's. */
export function insideProblems(root: string, most: number): string[] {
  const inside = [...sourceImports(root)].flatMap(([file, entries]) =>
    file.startsWith('test/')
      ? [...entries].filter((entry) => !/^(main|exports\/.*|(.*\/)?index)\.ts$/.test(entry))
      : [],
  );
  return inside.length > most
    ? [
        `${inside.length} imports in test/ pass the doors of src/, ${most} may: import from an index.ts, or test at the door`,
      ]
    : [];
}

/**
 * The violations of front doors by tests and tools, one line each. A tool imports doors. A test in `test/wing/room/` imports
 * doors, all files of that room and, from rooms of the same wing that have no door, files that other rooms import.
 *
 * @param root the folder with `src`, `test` and `tools`.
 */
export function entryProblems(root: string, exceptions: readonly Exception[]): string[] {
  const imports = readImports(join(root, 'src'));
  const doors = doorsIn(imports);
  const shared = new Set(
    [...imports].flatMap(([file, targets]) =>
      file.endsWith('/index.ts') ? [] : [...targets].filter((target) => roomOf(target) !== roomOf(file)),
    ),
  );
  const allowed = new Set(exceptions.flatMap(({ file, enters }) => enters.map((door) => `${file} enters ${door}/`)));
  const unused = new Set(allowed);
  const problems: string[] = [];
  for (const [file, entries] of sourceImports(root)) {
    const mirrored = file.startsWith('test/') ? file.slice('test/'.length) : '';
    for (const entry of entries) {
      const door = foldersOf(entry).findLast((folder) => doors.has(folder));
      if (door === undefined || entry === `${door}/index.ts` || roomOf(entry) === roomOf(mirrored)) {
        continue;
      }
      const entrance = `${file} enters ${door}/`;
      unused.delete(entrance);
      const isInside = foldersOf(mirrored).includes(door);
      if (isInside ? shared.has(entry) : allowed.has(entrance)) {
        continue;
      }
      const remedy = isInside
        ? `no other room does: test it in test/${roomOf(entry)}/`
        : `enter ${door}/ by its index.ts`;
      problems.push(`${file} imports src/${entry}: ${remedy}`);
    }
  }
  return [...problems, ...[...unused].map((entrance) => `tools/architecture/entries.ts: ${entrance} no more`)];
}
