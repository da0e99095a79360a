import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the folder of a run is removed even if the run is stopped, and of one that was killed by the next run', () => {
  const { pid: killed } = spawnSync('true');
  // The second run finds a folder of a process that has ended, which is named as the first run's.
  const script = `const { default: setUp } = await import(${JSON.stringify(new URL('run-folder.ts', import.meta.url))});
    const { existsSync, mkdirSync } = await import('node:fs');
    const folders = [];
    const provide = (name, value) => void folders.push(value);
    setUp({ provide });
    folders.push(folders[0].replace('-' + process.pid.toString(36) + '-', '-${killed.toString(36)}-'));
    mkdirSync(folders[1], { recursive: true });
    setUp({ provide });
    process.stdout.write(JSON.stringify(folders.map((folder) => [folder, existsSync(folder)])));
    process.exit(130);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const folders = JSON.parse(stdout) as [string, boolean][];
  // Without files in memory, nothing is left behind for good.
  const isInMemory = folders[0]?.[0].startsWith('/dev/shm/');
  expect(folders.map(([, existed]) => existed)).toEqual([true, !isInMemory, true]);
  expect(folders.map(([folder]) => existsSync(folder))).toEqual([false, false, false]);
});
