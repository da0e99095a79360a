import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';
import type { Layer } from './layers.ts';

/** The files that each file of a tree imports, types included; paths are relative to the tree, with `/`. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** What each TypeScript file below a folder imports, re-exports and loads by `import('…')`, as it is written there. */
function readSpecifiers(tree: string): Map<string, string[]> {
  const written = new Map<string, string[]>();
  for (const file of globSync('**/*.ts', { cwd: tree }).sort()) {
    const text = readFileSync(join(tree, file), 'utf8');
    const { module, errors } = parseSync(file, text);
    if (errors.length > 0) {
      throw new Error(`${file}: ${errors[0]?.message}`);
    }
    written.set(file, [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
      // The parser gives the expression's place, not its value.
      ...module.dynamicImports
        .map(({ moduleRequest: { start, end } }) => text.slice(start, end))
        .filter((expression) => /^['"]/.test(expression))
        .map((literal) => literal.slice(1, -1)),
    ]);
  }
  return written;
}

const relativeImports = (written: ReadonlyMap<string, readonly string[]>): Imports =>
  new Map(
    [...written].map(([file, specifiers]) => {
      const relative = specifiers.filter((specifier) => specifier.startsWith('.') && specifier.endsWith('.ts'));
      return [file, new Set(relative.map((specifier) => normalize(join(dirname(file), specifier))))];
    }),
  );

/** Reads the relative imports, re-exports and `import('…')` of all TypeScript files below a folder. */
export function readImports(tree: string): Imports {
  return relativeImports(readSpecifiers(tree));
}

/** The folders that enclose a file, outermost first: `a/b/c.ts` is in `a` and `a/b`. */
export function foldersOf(file: string): string[] {
  const steps = dirname(file) === '.' ? [] : dirname(file).split('/');
  return steps.map((_step, index) => steps.slice(0, index + 1).join('/'));
}

/** The folders that have an `index.ts`. */
export function indexedFolders(imports: Imports): ReadonlySet<string> {
  return new Set([...imports.keys()].filter((file) => file.endsWith('/index.ts')).map((file) => dirname(file)));
}

/** A cycle in a graph as the names on it; undefined if there is none. */
function circleIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  function visit(name: string): string[] | undefined {
    if (path.includes(name)) {
      return [...path.slice(path.indexOf(name)), name];
    }
    if (done.has(name)) {
      return undefined;
    }
    path.push(name);
    for (const next of graph.get(name) ?? []) {
      const circle = visit(next);
      if (circle !== undefined) {
        return circle;
      }
    }
    path.pop();
    done.add(name);
    return undefined;
  }
  for (const name of graph.keys()) {
    const circle = visit(name);
    if (circle !== undefined) {
      return circle;
    }
  }
  return undefined;
}

/**
 * The imports between sibling folders that have an `index.ts`, by path: an import counts for the two
 * folders where the paths of the two files diverge.
 */
function siblingImports(imports: Imports, indexed: ReadonlySet<string>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const enclosing = foldersOf(file);
    for (const target of targets) {
      const others = foldersOf(target);
      const parting = enclosing.findIndex((folder, depth) => folder !== others[depth]);
      const [from, to] = [enclosing[parting], others[parting]];
      if (from !== undefined && to !== undefined && indexed.has(from) && indexed.has(to)) {
        graph.set(from, (graph.get(from) ?? new Set()).add(to));
      }
    }
  }
  return graph;
}

/** The part of a tree's imports that stays within one of its folders; paths are relative to the folder. */
function importsWithin(imports: Imports, folder: string): Imports {
  const inside = (file: string) => file.startsWith(`${folder}/`);
  const relative = (file: string) => file.slice(folder.length + 1);
  return new Map(
    [...imports]
      .filter(([file]) => inside(file))
      .map(([file, targets]) => [relative(file), new Set([...targets].filter(inside).map(relative))]),
  );
}

/** The violations of the order of a folder's folders, from the bottom up; `path` is the folder in the messages. */
function orderProblems(imports: Imports, order: readonly string[], path: string): string[] {
  const rank = new Map(order.map((name, index) => [name, index]));
  const present = new Set([...imports.keys()].flatMap((file) => foldersOf(file).slice(0, 1)));
  const problems = [
    ...[...present]
      .filter((name) => !rank.has(name))
      .map((name) => `${path}${name}/ is not in the list of tools/architecture/layers.ts`),
    ...order
      .filter((name) => !present.has(name))
      .map((name) => `${path}${name}/ is in the list of tools/architecture/layers.ts, but not there`),
  ];
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const [from, to] = [foldersOf(file)[0], foldersOf(target)[0]];
      if (from !== undefined && to !== undefined && (rank.get(from) ?? 0) < (rank.get(to) ?? 0)) {
        problems.push(`${path}${file} imports ${path}${target}: ${path}${from}/ is below ${path}${to}/`);
      }
    }
  }
  return problems;
}

/** The imports of a layer by files that are neither its own nor below `importedBy`. */
const otherImporters = (imports: Imports, layer: string, importedBy: string): string[] =>
  [...imports]
    .filter(([file]) => !file.startsWith(`${layer}/`) && !file.startsWith(`${importedBy}/`))
    .flatMap(([file, targets]) => [...targets].map((target) => ({ file, target })))
    .filter(({ target }) => target.startsWith(`${layer}/`))
    .map(({ file, target }) => `${file} imports ${target}: only ${importedBy}/ may`);

/** The imports of what a package would not contain or bring: files outside of the tree, and packages not depended on. */
function unpackedImports(written: ReadonlyMap<string, readonly string[]>, dependencies: readonly string[]): string[] {
  const problem = (file: string, specifier: string): string[] => {
    if (specifier.startsWith('.')) {
      return normalize(join(dirname(file), specifier)).startsWith('..')
        ? [`${file} imports ${specifier}: outside`]
        : [];
    }
    const [name = ''] = /^(@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
    return specifier.startsWith('node:') || dependencies.includes(name)
      ? []
      : [`${file} imports ${specifier}: not in the dependencies of package.json`];
  };
  return [...written].flatMap(([file, specifiers]) => specifiers.flatMap((specifier) => problem(file, specifier)));
}

/**
 * The violations of a tree's imports, one line each:
 *
 * - an import of a file outside of the tree, or of a package that is not among the given dependencies: the package has
 *   neither, and the build does not check it
 * - a folder that is not in the list of layers or modules, or a listed one that is not there
 * - an import of a layer, or of a module in the same layer, that comes later in the list
 * - an import of a layer from outside of the one folder that may import it
 * - an import from outside of the nearest folder that has an `index.ts`, but not through it
 * - a cycle of files
 * - a cycle of sibling folders that have an `index.ts`
 */
export function importProblems(tree: string, layers: readonly Layer[], dependencies: readonly string[]): string[] {
  const written = readSpecifiers(tree);
  const imports = relativeImports(written);
  const names = layers.map(({ name }) => name);
  const problems = [...unpackedImports(written, dependencies), ...orderProblems(imports, names, '')];
  for (const { name, modules, importedBy } of layers) {
    problems.push(...(modules === undefined ? [] : orderProblems(importsWithin(imports, name), modules, `${name}/`)));
    problems.push(...(importedBy === undefined ? [] : otherImporters(imports, name, importedBy)));
  }
  const indexed = indexedFolders(imports);
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const owner = foldersOf(target).findLast((folder) => indexed.has(folder));
      if (owner !== undefined && target !== `${owner}/index.ts` && !foldersOf(file).includes(owner)) {
        problems.push(`${file} imports ${target}: import from ${owner}/index.ts`);
      }
    }
  }
  const circle = circleIn(imports);
  if (circle !== undefined) {
    problems.push(`imports run in a circle: ${circle.join(' → ')}`);
  }
  const folders = circleIn(siblingImports(imports, indexed));
  if (folders !== undefined) {
    problems.push(`imports of folders run in a circle: ${folders.map((folder) => `${folder}/`).join(' → ')}`);
  }
  return problems;
}
