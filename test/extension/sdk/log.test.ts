import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultLog } from '../../../src/extension/sdk/log.ts';

const module = fileURLToPath(new URL('../../../src/extension/sdk/log.ts', import.meta.url));

test.each([
  ['ends by itself', '', 0],
  ['is ended', 'process.exit(3);', 3],
  ['fails', 'throw new Error("x");', 1],
])('the default log is complete when the process %s', (_name, end, code) => {
  const program = `import { defaultLog } from ${JSON.stringify(module)};
const log = defaultLog();
for (let count = 0; count < 300; count++) log.info({ count }, 'call answered');
${end}`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  // A batch that is being written when the process exits may come after those that are written at the end.
  lines.sort((one, other) => one.count - other.count);
  const time = expect.stringMatching(/^\d{4}-.+Z$/);
  expect([status, lines]).toEqual([
    code,
    Array.from({ length: 300 }, (_, count) => ({ level: 'info', time, count, msg: 'call answered' })),
  ]);
});

test('lines are written to a file or a descriptor, in batches, each with its time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const times = [1763700000000, 1763700000007, 1763700000999, 1763700001000, 1763700000080];
  const file = join(folder, 'log');
  const clock = vi.spyOn(Date, 'now');
  onTestFinished(() => clock.mockRestore());
  const log = defaultLog(file);
  for (const time of times) {
    clock.mockReturnValue(time);
    log.warn({ more: 1 }, 'line');
  }
  clock.mockRestore();
  expect(readFileSync(file, 'utf8')).toBe('');
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).not.toBe(''), { timeout: 5_000, interval: 5 });
  expect(readFileSync(file, 'utf8').split('\n')).toEqual([
    ...times.map((time) => JSON.stringify({ level: 'warn', time: new Date(time).toISOString(), more: 1, msg: 'line' })),
    '',
  ]);
});

test('lines are written soon, even if no more follow', async () => {
  const program = `import { defaultLog } from ${JSON.stringify(module)};
defaultLog().info('one');
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500);`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect([signal, stdout]).toEqual(['SIGKILL', expect.stringContaining('"msg":"one"')]);
});
