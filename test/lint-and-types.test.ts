import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder, run } from './package/tree.ts';

/** Runs a script of package.json: beside other tests, where processors would be idle before or after all of them. */
async function succeeds(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await run(projectFolder, process.execPath, ['--run', ...args]);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

test('format, lint, and imports between rooms (npm run lint)', () => succeeds('lint'));

test('what users of a checkout create in it is not linted, such as my-extension', () => {
  const { files } = JSON.parse(readFileSync(join(projectFolder, 'biome.json'), 'utf8')) as {
    files: { includes: string[] };
  };
  const paths = ['my-extension/src/main.ts', 'my-extension/package.json', 'openapi.json', 'bin/load.js', 'src/x/y.ts'];
  expect(paths.filter((path) => files.includes.some((pattern) => matchesGlob(path, pattern)))).toEqual([
    'bin/load.js',
    'src/x/y.ts',
  ]);
});

// Several threads would each check what they share, which takes half as much CPU time again.
test('types (npm run check)', () => succeeds('check', '--', '--singleThreaded'));
