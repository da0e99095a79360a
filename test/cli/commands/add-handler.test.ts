import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from './io.ts';

test('adds handlers to the project in the current folder, and lists the files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'add-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const project = join(folder, 'lab');
  await runProgram(['new-extension', project]);
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(project);
  const add = (...args: string[]) => runProgram(['add-handler', ...args]);
  const { code, stdout, stderr } = await add('BeforeClusterDelete');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe('src/handlers/before-cluster-delete.ts\nsrc/handlers/index.ts\n');
  expect(readFileSync(join(project, 'src/handlers/index.ts'), 'utf8')).toContain('beforeClusterDelete]');
  expect(await add('BeforeClusterDelete')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('before-cluster-delete.ts exists: the project has this handler'),
  });
  expect(await add('BeforeClusterDelet')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/'BeforeClusterDelet' is invalid for argument 'hooks'.*BeforeClusterDelete,/),
  });
});
