import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { LogStream } from '../../../src/base/index.ts';
import { openLog, renderLines } from '../../../src/cli/framework/log.ts';

function collecting(isTTY: boolean) {
  const written = { text: '' };
  const stream: LogStream = Object.assign(new PassThrough(), { isTTY }).on('data', (chunk) => {
    written.text += chunk;
  });
  return { stream, written };
}

const iso = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z';

test('writes JSON unless on a terminal, with an ISO timestamp and the name of the level', async () => {
  const { stream, written } = collecting(false);
  (await openLog(stream, { 'log-level': 'info' })).log.warn({ uid: 'x' }, 'denied');
  expect(JSON.parse(written.text)).toEqual({
    level: 'warn',
    time: expect.stringMatching(new RegExp(`^${iso}$`)),
    uid: 'x',
    msg: 'denied',
  });
});

test('writes one readable line per event on a terminal, without anything that could control it', async () => {
  const { stream, written } = collecting(true);
  const { log } = await openLog(stream, { 'log-level': 'info' });
  log.info({ webhook: 'validate', name: 'evil\u001b[2J\nname', deniedBy: ['url-host'], durationMs: 0.5 }, 'denied');
  log.debug('not shown');
  expect(written.text).toMatch(
    new RegExp(
      `^${iso} INFO  denied webhook=validate name="evil\\\\u001b\\[2J\\\\nname" deniedBy=\\["url-host"\\] durationMs=0.5\n$`,
    ),
  );
});

test('escapes control characters in a message', async () => {
  const line = JSON.stringify({ time: 't', level: 'info', msg: 'a\u001b[31mb' });
  expect(renderLines(`${line}\n`, collecting(false).stream)).toBe('t INFO  "a\\u001b[31mb"\n');
});

const script = `
  import { openLog } from ${JSON.stringify(fileURLToPath(new URL('../../../src/cli/framework/log.ts', import.meta.url)))};
  const { log } = await openLog(process.stdout, { 'log-level': 'info' });
  for (let i = 0; i < 2000; i++) log.info({ i, padding: 'x'.repeat(10_000) }, 'line');
  process.on('SIGTERM', () => log.flush(() => process.exit(0)));
  console.error('went on');
  setInterval(() => {}, 1000);
`;

test('a slow reader of the log holds nothing up, and the lines that are kept are complete', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  // 20 MB of lines, and a pipe that holds 64 KiB: with a log that blocks, this is never reached.
  await once(child.stderr, 'data');
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.kill('SIGTERM');
  await closed;
  const lines = text.split('\n').filter((line) => line.endsWith('}'));
  const numbers = lines.map((line) => (JSON.parse(line) as { i: number }).i);
  expect(numbers[0]).toBe(0);
  expect(numbers.length).toBeGreaterThan(100);
  expect(numbers.length).toBeLessThan(2000);
});

test.each(['text', 'json'] as const)('a log in %s has no control characters, and says the same', async (format) => {
  const nasty = 'a\u007f\u009b31m\u202eb\u2028c##[group]d';
  const { stream, written } = collecting(format === 'text');
  const { log } = await openLog(stream, { 'log-level': 'info' });
  log.info({ name: nasty, uid: 'x' }, nasty);
  expect(written.text).not.toMatch(/[\u007f-\u009f\u202e\u2028]|##\[/);
  if (format === 'json') {
    expect(JSON.parse(written.text)).toMatchObject({ name: nasty, uid: 'x', msg: nasty });
  } else {
    expect(written.text).toContain('uid=x');
  }
});
