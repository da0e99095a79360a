import { expect, test } from 'vitest';
import { entryProblems, insideProblems } from '../../tools/architecture/entries.ts';
import { tree } from './tree.ts';

/** A wing with two rooms without doors and one with a door, and a wing without any. */
const source = {
  'src/wing/index.ts': "export { a } from './open/a.ts';",
  'src/wing/open/a.ts': "export { b as a } from './b.ts';",
  'src/wing/open/b.ts': 'export const b = 1;',
  'src/wing/other/c.ts': "export { a as c } from '../open/a.ts';",
  'src/wing/hidden/index.ts': "export { d } from './inner/d.ts';",
  'src/wing/hidden/inner/d.ts': 'export const d = 1;',
  'src/exports/e.ts': 'export const e = 1;',
  'src/main.ts': "import './exports/e.ts';",
};

const cases: { name: string; file: string; text: string; problems: string[] }[] = [
  {
    name: 'a test may enter by doors, and the files of its own room',
    file: 'test/wing/open/a.test.ts',
    text: `
      import { a } from '../../../src/wing/index.ts';
      import { d } from '../../../src/wing/hidden/index.ts';
      import { b } from '../../../src/wing/open/b.ts';
      import { e } from '../../../src/exports/e.ts';
      import '../../../src/main.ts';
      import { tree } from '../../tree.ts';
      import { test } from 'vitest';`,
    problems: [],
  },
  {
    name: 'a test may enter its own room at any depth, past the door of that',
    file: 'test/wing/hidden/d.test.ts',
    text: "import { d } from '../../../src/wing/hidden/inner/d.ts';",
    problems: [],
  },
  {
    name: 'a test enters rooms of its wing where other rooms do',
    file: 'test/wing/other/c.test.ts',
    text: "import { a } from '../../../src/wing/open/a.ts';\nimport { b } from '../../../src/wing/open/b.ts';",
    problems: ['test/wing/other/c.test.ts imports src/wing/open/b.ts: no other room does: test it in test/wing/open/'],
  },
  {
    name: 'a test enters a room of its wing by its door if it has one',
    file: 'test/wing/other/c.test.ts',
    text: "import { d } from '../../../src/wing/hidden/inner/d.ts';",
    problems: ['test/wing/other/c.test.ts imports src/wing/hidden/inner/d.ts: enter wing/hidden/ by its index.ts'],
  },
  {
    name: 'a test enters other wings by their doors, with types and imports when needed too',
    file: 'test/exports/e.test.ts',
    text: `
      import type { A } from '../../src/wing/open/a.ts';
      export const later = () => import('../../src/wing/other/c.ts');`,
    problems: [
      'test/exports/e.test.ts imports src/wing/open/a.ts: enter wing/ by its index.ts',
      'test/exports/e.test.ts imports src/wing/other/c.ts: enter wing/ by its index.ts',
    ],
  },
  {
    name: 'a tool has no room of its own',
    file: 'tools/wing/open/a.ts',
    text: "import { a } from '../../../src/wing/index.ts';\nimport { b } from '../../../src/wing/open/b.ts';",
    problems: ['tools/wing/open/a.ts imports src/wing/open/b.ts: enter wing/ by its index.ts'],
  },
];

test.each(cases)('$name', ({ file, text, problems }) => {
  expect(entryProblems(tree({ ...source, [file]: text }), [])).toEqual(problems);
});

test('an exception allows one file to pass one door, and is reported once nothing needs it', () => {
  const file = 'tools/a.ts';
  const enter = (path: string) => tree({ ...source, [file]: `import '../src/wing/${path}';` });
  const exceptions = [{ file, enters: ['wing'], reason: 'a test' }];
  expect(entryProblems(enter('open/b.ts'), exceptions)).toEqual([]);
  const unused = 'tools/architecture/entries.ts: tools/a.ts enters wing/ no more';
  expect(entryProblems(enter('index.ts'), exceptions)).toEqual([unused]);
  expect(entryProblems(enter('hidden/inner/d.ts'), exceptions)).toEqual([
    'tools/a.ts imports src/wing/hidden/inner/d.ts: enter wing/hidden/ by its index.ts',
    unused,
  ]);
});

test('imports by tests that pass the doors are counted, those of entry points and of tools are not', () => {
  const imports = (...paths: string[]) => paths.map((path) => `import '../src/${path}';`).join('\n');
  const root = tree({
    ...source,
    'test/a.test.ts': imports('main.ts', 'exports/e.ts', 'wing/index.ts', 'wing/open/a.ts', 'wing/open/b.ts'),
    'test/b.test.ts': imports('wing/hidden/index.ts', 'wing/open/a.ts'),
    'tools/c.ts': imports('wing/open/b.ts'),
  });
  expect(insideProblems(root, 3)).toEqual([]);
  expect(insideProblems(root, 2)).toEqual([expect.stringMatching(/^3 imports in test\/ .* 2 may/)]);
});
