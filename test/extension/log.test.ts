import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../src/extension/log.ts', import.meta.url));

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
  // A batch that is being written when the process ends may come behind those that are written at the end.
  lines.sort((one, other) => one.count - other.count);
  const time = expect.stringMatching(/^\d{4}-.+Z$/);
  expect([status, lines]).toEqual([
    code,
    Array.from({ length: 300 }, (_, count) => ({ level: 'info', time, count, msg: 'call answered' })),
  ]);
});

test('lines come soon after they are written, without more of them', async () => {
  const program = `import { defaultLog } from ${JSON.stringify(module)};
defaultLog().info('one');
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500);`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect([signal, stdout]).toEqual(['SIGKILL', expect.stringContaining('"msg":"one"')]);
});

test('each line has its own time, also from one second to the next and back', () => {
  const times = [1763700000000, 1763700000007, 1763700000999, 1763700001000, 1763700000080];
  const program = `import { defaultLog } from ${JSON.stringify(module)};
const log = defaultLog();
for (const time of ${JSON.stringify(times)}) {
  Date.now = () => time;
  log.info('line');
}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  const logged = stdout.trimEnd().split('\n');
  expect(logged.map((line) => JSON.parse(line).time)).toEqual(times.map((time) => new Date(time).toISOString()));
});
