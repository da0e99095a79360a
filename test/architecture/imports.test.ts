import { expect, test } from 'vitest';
import { importProblems } from '../../tools/architecture/imports.ts';
import { tree } from './tree.ts';

const low = { name: 'low', knows: 'little' };
const high = { name: 'high', knows: 'more' };

const cases: { name: string; files: Record<string, string>; problems: string[] }[] = [
  {
    name: 'a layer that imports from the index.ts of one below it is fine',
    files: { 'low/index.ts': 'export const a = 1;', 'high/b.ts': "import { a } from '../low/index.ts'; export { a };" },
    problems: [],
  },
  {
    name: 'an import upwards',
    files: { 'low/a.ts': "import { b } from '../high/index.ts';", 'high/index.ts': 'export const b = 1;' },
    problems: ['low/a.ts imports high/index.ts: low/ is below high/'],
  },
  {
    name: 'an import of a type upwards',
    files: { 'low/a.ts': "import type { B } from '../high/index.ts';", 'high/index.ts': 'export type B = 1;' },
    problems: ['low/a.ts imports high/index.ts: low/ is below high/'],
  },
  {
    name: 'a re-export and an import when needed, both upwards',
    files: {
      'low/a.ts': "export * from '../high/index.ts';\nexport const later = () => import('../high/index.ts');",
      'low/b.ts': "export const later = () => import('../high/index.ts');",
      'high/index.ts': 'export const b = 1;',
    },
    problems: [
      'low/a.ts imports high/index.ts: low/ is below high/',
      'low/b.ts imports high/index.ts: low/ is below high/',
    ],
  },
  {
    name: 'imports that bypass the index.ts of a layer and of a module',
    files: {
      'low/index.ts': "export { a } from './a.ts';",
      'low/a.ts': 'export const a = 1;',
      'high/b.ts': "import { a } from '../low/a.ts';\nimport { d } from './inner/d.ts';",
      'high/inner/index.ts': "export { d } from './d.ts';",
      'high/inner/d.ts': 'export const d = 1;',
    },
    problems: [
      'high/b.ts imports high/inner/d.ts: import from high/inner/index.ts',
      'high/b.ts imports low/a.ts: import from low/index.ts',
    ],
  },
  {
    name: 'a circle of files',
    files: {
      'low/a.ts': "import { b } from './b.ts'; export const a = b;",
      'low/b.ts': "import { a } from './a.ts'; export const b = a;",
      'high/c.ts': 'export {};',
    },
    problems: ['imports run in a circle: low/a.ts → low/b.ts → low/a.ts'],
  },
  {
    name: 'a circle of folders beside each other, though not of files',
    files: {
      'low/one/index.ts': "export { a } from './a.ts';",
      'low/one/a.ts': 'export const a = 1;',
      'low/one/b.ts': "import { c } from '../two/index.ts'; export const b = c;",
      'low/two/index.ts': "export { c } from './c.ts';",
      'low/two/c.ts': 'export const c = 1;',
      'low/two/d.ts': "import { a } from '../one/index.ts'; export const d = a;",
      'high/e.ts': 'export {};',
    },
    problems: ['imports of folders run in a circle: low/one/ → low/two/ → low/one/'],
  },
  {
    name: 'imports of files outside and of packages that are not dependencies',
    files: {
      'low/a.ts': "import '../../test/a.ts';\nexport * from '../../package.json';\nimport 'node:fs';",
      'high/b.ts': [
        "import 'known';",
        "import type { A } from 'known/inner.js';",
        "import '@known/scope/inner';",
        "export const later = (path: string) => [import(path), import('unknown/inner')];",
        "import type { C } from '@known/other';",
      ].join('\n'),
    },
    problems: [
      'high/b.ts imports @known/other: not in the dependencies of package.json',
      'high/b.ts imports unknown/inner: not in the dependencies of package.json',
      'low/a.ts imports ../../package.json: outside',
      'low/a.ts imports ../../test/a.ts: outside',
    ],
  },
  {
    name: 'a folder that is not a layer, and a layer that is not there',
    files: { 'low/a.ts': 'export {};', 'new/b.ts': 'export {};' },
    problems: [
      'high/ is in the list of tools/architecture/layers.ts, but not there',
      'new/ is not in the list of tools/architecture/layers.ts',
    ],
  },
];

test.each(cases)('$name', ({ files, problems }) => {
  expect(importProblems(tree(files), [low, high], ['known', '@known/scope']).sort()).toEqual(problems);
});

test('modules within a layer have their own order', () => {
  const folder = tree({
    'high/index.ts': "export { a } from './first/a.ts';",
    'high/first/a.ts': "export { b as a } from '../second/b.ts';",
    'high/second/b.ts': 'export const b = 1;',
    'high/third/c.ts': 'export {};',
  });
  expect(importProblems(folder, [{ ...high, modules: ['first', 'second'] }], [])).toEqual([
    'high/third/ is not in the list of tools/architecture/layers.ts',
    'high/first/a.ts imports high/second/b.ts: high/first/ is below high/second/',
  ]);
});

test('a layer that one folder imports', () => {
  const folder = tree({
    'low/index.ts': 'export const a = 1;',
    'high/one/a.ts': "import { a } from '../../low/index.ts';",
    'high/two/b.ts': "import { a } from '../../low/index.ts';",
  });
  expect(importProblems(folder, [{ ...low, importedBy: 'high/one' }, high], [])).toEqual([
    'high/two/b.ts imports low/index.ts: only high/one/ may',
  ]);
});

test('from a module with an index.ts of its own, all others import from that', () => {
  const folder = tree({
    'low/index.ts': "export { a } from './a.ts';",
    'low/a.ts': 'export const a = 1;',
    'low/hidden/index.ts': "export { b } from './b.ts';",
    'low/hidden/b.ts': 'export const b = 1;',
    'high/c.ts': "import { b } from '../low/hidden/index.ts';\nexport { b } from '../low/hidden/b.ts';",
  });
  expect(importProblems(folder, [low, high], [])).toEqual([
    'high/c.ts imports low/hidden/b.ts: import from low/hidden/index.ts',
  ]);
});
