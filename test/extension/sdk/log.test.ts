import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../../src/extension/sdk/log.ts', import.meta.url));

test.each([
  ['ends by itself', '', 0],
  ['is ended', 'process.exit(3);', 3],
  ['fails', 'throw new Error("x");', 1],
])('the default log is complete when the process %s', (_name, end, code) => {
  const program = `import { defaultLog } from ${JSON.stringify(module)};
const { log } = defaultLog();
for (let count = 0; count < 300; count++) log.info({ count }, 'call answered');
${end}`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const time = expect.stringMatching(/^\d{4}-.+Z$/);
  expect([status, lines]).toEqual([
    code,
    Array.from({ length: 300 }, (_, count) => ({ level: 'info', time, count, msg: 'call answered' })),
  ]);
});

test('lines are written soon, even if no more follow', async () => {
  const program = `import { defaultLog } from ${JSON.stringify(module)};
defaultLog().log.info('one');
setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500);`;
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect([signal, stdout]).toEqual(['SIGKILL', expect.stringContaining('"msg":"one"')]);
});
