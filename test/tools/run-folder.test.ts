import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the folder of a run is removed even if the run is stopped', () => {
  const script = `const { default: setUp } = await import(${JSON.stringify(new URL('run-folder.ts', import.meta.url))});
    const { existsSync } = await import('node:fs');
    let folder = '';
    setUp({ provide: (name, value) => { folder = value; } });
    process.stdout.write(JSON.stringify([folder, existsSync(folder)]));
    process.exit(130);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const [folder, existed] = JSON.parse(stdout) as [string, boolean];
  expect([existed, existsSync(folder)]).toEqual([true, false]);
});
