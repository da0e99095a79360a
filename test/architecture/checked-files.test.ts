import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../package/tree.ts';

test('what users of a checkout create in it is not linted, such as my-extension', () => {
  const { files } = JSON.parse(readFileSync(join(projectFolder, 'biome.json'), 'utf8')) as {
    files: { includes: string[] };
  };
  const paths = [
    'my-extension/src/main.ts',
    'my-extension/package.json',
    'openapi.json',
    'bin/launch.js',
    'src/x/y.ts',
  ];
  expect(paths.filter((path) => files.includes.some((pattern) => matchesGlob(path, pattern)))).toEqual([
    'bin/launch.js',
    'src/x/y.ts',
  ]);
});
