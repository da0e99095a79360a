import { join } from 'node:path';
import { foldersOf, type Imports, indexedFolders, readImports } from './imports.ts';

/** A test or tool that imports files of a folder beside its `index.ts`. */
export interface Exception {
  file: string;
  /** The folders below `src/` whose `index.ts` it bypasses. */
  enters: readonly string[];
  reason: string;
}

/** The only ones. */
export const exceptions: readonly Exception[] = [
  { file: 'tools/generate/validators.ts', enters: ['extensionconfig'], reason: 'generates files of that layer' },
  { file: 'tools/generate/model-schemas.ts', enters: ['sandbox'], reason: 'generates a file of that layer' },
  {
    file: 'tools/generate/program-report.ts',
    enters: ['server', 'runtimehooks/client', 'extension', 'webhook', 'controller'],
    reason: 'lists the metrics of servers and controllers without starting them',
  },
  {
    file: 'tools/fuzz/decoders.ts',
    enters: ['kubernetes/client', 'sandbox', 'kubernetes/openapi'],
    reason: 'sends millions of inputs to decoders, without the server in front of them, and knows their errors',
  },
];

/** The module that a file is in: two folders at most, `layer/module` or, for the files of a layer itself, `layer`. */
const moduleOf = (file: string) => foldersOf(file).slice(0, 2).at(-1);

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

/** How many imports by tests may bypass an `index.ts`, to test a detail that it does not export. Lower it when there are fewer. */
export const mostInside = 44;

/** The violation of a limit on the imports by tests of files in `src/` that are no `index.ts`, entry point or program. */
export function insideProblems(root: string, most: number): string[] {
  const inside = [...sourceImports(root)].flatMap(([file, entries]) =>
    file.startsWith('test/')
      ? [...entries].filter((entry) => !/^(main|exports\/.*|(.*\/)?index)\.ts$/.test(entry))
      : [],
  );
  return inside.length > most
    ? [
        `${inside.length} imports in test/ bypass an index.ts of src/, ${most} may: import from it, and test what it exports`,
      ]
    : [];
}

/**
 * The imports by tests and tools that bypass an `index.ts`, one line each. A tool imports only from an `index.ts`. A test in
 * `test/layer/module/` also imports all files of that module and, from modules of the same layer without an `index.ts`, files
 * that other modules import.
 *
 * @param root the folder with `src`, `test` and `tools`.
 */
export function entryProblems(root: string, exceptions: readonly Exception[]): string[] {
  const imports = readImports(join(root, 'src'));
  const indexed = indexedFolders(imports);
  const shared = new Set(
    [...imports].flatMap(([file, targets]) =>
      file.endsWith('/index.ts') ? [] : [...targets].filter((target) => moduleOf(target) !== moduleOf(file)),
    ),
  );
  const allowed = new Set(
    exceptions.flatMap(({ file, enters }) => enters.map((folder) => `${file} enters ${folder}/`)),
  );
  const unused = new Set(allowed);
  const problems: string[] = [];
  for (const [file, entries] of sourceImports(root)) {
    const mirrored = file.startsWith('test/') ? file.slice('test/'.length) : '';
    for (const entry of entries) {
      const owner = foldersOf(entry).findLast((folder) => indexed.has(folder));
      if (owner === undefined || entry === `${owner}/index.ts` || moduleOf(entry) === moduleOf(mirrored)) {
        continue;
      }
      const entrance = `${file} enters ${owner}/`;
      unused.delete(entrance);
      const isInside = foldersOf(mirrored).includes(owner);
      if (isInside ? shared.has(entry) : allowed.has(entrance)) {
        continue;
      }
      const remedy = isInside
        ? `no other module does: test it in test/${moduleOf(entry)}/`
        : `import from ${owner}/index.ts`;
      problems.push(`${file} imports src/${entry}: ${remedy}`);
    }
  }
  return [...problems, ...[...unused].map((entrance) => `tools/architecture/entries.ts: ${entrance} no more`)];
}
