import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { entryProblems, insideProblems } from '../../tools/architecture/entries.ts';
import { tree } from './tree.ts';

/** A layer with two modules without an `index.ts` and one with it, and a layer without any. */
const source = {
  'src/layer/index.ts': "export { a } from './open/a.ts';",
  'src/layer/open/a.ts': "export { b as a } from './b.ts';",
  'src/layer/open/b.ts': 'export const b = 1;',
  'src/layer/other/c.ts': "export { a as c } from '../open/a.ts';",
  'src/layer/hidden/index.ts': "export { d } from './inner/d.ts';",
  'src/layer/hidden/inner/d.ts': 'export const d = 1;',
  'src/exports/e.ts': 'export const e = 1;',
  'src/main.ts': "import './exports/e.ts';",
};

const cases: { name: string; file: string; text: string; problems: string[] }[] = [
  {
    name: 'a test imports from any index.ts, and the files of its own module',
    file: 'test/layer/open/a.test.ts',
    text: `
      import { a } from '../../../src/layer/index.ts';
      import { d } from '../../../src/layer/hidden/index.ts';
      import { b } from '../../../src/layer/open/b.ts';
      import { e } from '../../../src/exports/e.ts';
      import '../../../src/main.ts';
      import { tree } from '../../tree.ts';
      import { test } from 'vitest';`,
    problems: [],
  },
  {
    name: 'a test imports files of its own module at any depth, beside its index.ts',
    file: 'test/layer/hidden/d.test.ts',
    text: "import { d } from '../../../src/layer/hidden/inner/d.ts';",
    problems: [],
  },
  {
    name: 'a test imports from modules of its layer what other modules import',
    file: 'test/layer/other/c.test.ts',
    text: "import { a } from '../../../src/layer/open/a.ts';\nimport { b } from '../../../src/layer/open/b.ts';",
    problems: [
      'test/layer/other/c.test.ts imports src/layer/open/b.ts: no other module does: test it in test/layer/open/',
    ],
  },
  {
    name: 'a test imports from the index.ts of a module of its layer if it has one',
    file: 'test/layer/other/c.test.ts',
    text: "import { d } from '../../../src/layer/hidden/inner/d.ts';",
    problems: ['test/layer/other/c.test.ts imports src/layer/hidden/inner/d.ts: import from layer/hidden/index.ts'],
  },
  {
    name: 'a test imports from the index.ts of other layers, with types and imports when needed too',
    file: 'test/exports/e.test.ts',
    text: `
      import type { A } from '../../src/layer/open/a.ts';
      export const later = () => import('../../src/layer/other/c.ts');`,
    problems: [
      'test/exports/e.test.ts imports src/layer/open/a.ts: import from layer/index.ts',
      'test/exports/e.test.ts imports src/layer/other/c.ts: import from layer/index.ts',
    ],
  },
  {
    name: 'a tool has no module of its own',
    file: 'tools/layer/open/a.ts',
    text: "import { a } from '../../../src/layer/index.ts';\nimport { b } from '../../../src/layer/open/b.ts';",
    problems: ['tools/layer/open/a.ts imports src/layer/open/b.ts: import from layer/index.ts'],
  },
];

test.each(cases)('$name', ({ file, text, problems }) => {
  expect(entryProblems(tree({ ...source, [file]: text }), [])).toEqual(problems);
});

test('an exception allows one file to bypass one index.ts, and is reported once nothing needs it', () => {
  const file = 'tools/a.ts';
  const enter = (path: string) => tree({ ...source, [file]: `import '../src/layer/${path}';` });
  const exceptions = [{ file, enters: ['layer'], reason: 'a test' }];
  expect(entryProblems(enter('open/b.ts'), exceptions)).toEqual([]);
  const unused = 'tools/architecture/entries.ts: tools/a.ts enters layer/ no more';
  expect(entryProblems(enter('index.ts'), exceptions)).toEqual([unused]);
  expect(entryProblems(enter('hidden/inner/d.ts'), exceptions)).toEqual([
    'tools/a.ts imports src/layer/hidden/inner/d.ts: import from layer/hidden/index.ts',
    unused,
  ]);
});

test('imports by tests that bypass an index.ts are counted, those of entry points and of tools are not', () => {
  const imports = (...paths: string[]) => paths.map((path) => `import '../src/${path}';`).join('\n');
  const root = tree({
    ...source,
    'test/a.test.ts': imports('main.ts', 'exports/e.ts', 'layer/index.ts', 'layer/open/a.ts', 'layer/open/b.ts'),
    'test/b.test.ts': imports('layer/hidden/index.ts', 'layer/open/a.ts'),
    'tools/c.ts': imports('layer/open/b.ts'),
  });
  expect(insideProblems(root, 3)).toEqual([]);
  expect(insideProblems(root, 2)).toEqual([expect.stringMatching(/^3 imports in test\/ .* 2 may/)]);
});

test('the engine has at most 30 names for its callers', () => {
  const lists = readFileSync('src/topology/index.ts', 'utf8').matchAll(/export (?:type )?\{([^}]*)\} from/g);
  const names = [...lists].flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
  expect(names).toContain(' World ');
  expect(names.length).toBeLessThanOrEqual(30);
});
