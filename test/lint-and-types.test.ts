import { expect, test } from 'vitest';
import { projectFolder, run } from './package/tree.ts';

/** Runs a script of package.json: beside other tests, where processors would be idle before or after all of them. */
async function succeeds(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await run(projectFolder, process.execPath, ['--run', ...args]);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

test('format, lint, and imports between rooms (npm run lint)', () => succeeds('lint'));

// Several threads would each check what they share, which takes half as much CPU time again.
test('types (npm run check)', () => succeeds('check', '--', '--singleThreaded'));
