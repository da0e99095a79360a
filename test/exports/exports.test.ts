import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';

const library = new URL('../../src/exports/', import.meta.url);

/** The names that a module exports, each with the module that it passes the name on from; `export *` counts, too. */
function exportsOf(module: URL): [name: string, from: string][] {
  const { staticExports } = parseSync(module.pathname, readFileSync(module, 'utf8')).module;
  return staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName, importName, moduleRequest }): [string, string][] => {
      const from = new URL(moduleRequest?.value ?? '', module);
      const names = importName.kind === 'AllButDefault' ? exportsOf(from).map(([name]) => name) : [exportName.name];
      return names.flatMap((name) => (name === null ? [] : [[name, from.href]]));
    });
}

// TypeScript lets a named export hide one of the same name that comes with an `export *`.
test.each(readdirSync(library).filter((name) => name.endsWith('.ts')))('%s: no name hides another one', (file) => {
  const byName = Map.groupBy(exportsOf(new URL(file, library)), ([name]) => name);
  const hidden = [...byName.values()].filter((all) => new Set(all.map(([, from]) => from)).size > 1);
  expect(hidden).toEqual([]);
});
