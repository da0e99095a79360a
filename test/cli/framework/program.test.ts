import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { runProgram } from '../commands/io.ts';

test('an error that nobody foresaw is a bug: one line with what to send, exit code 1, and no stack trace', async () => {
  const stdin = new Readable({ read: () => stdin.destroy(new TypeError('x is not\n    at all')) });
  const { code, stdout, stderr } = await runProgram(['lint', '-'], { stdin });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^extensionconfig-webhook: this is a bug: TypeError: x is not.* at all .*: please report this line/,
  );
  expect(stderr.trimEnd()).not.toContain('\n');
});

test.each([
  ['a terminal', true, { TERM: 'xterm' }, true],
  ['a file or a pipe', false, { TERM: 'xterm' }, false],
  ['a file or a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
  ['a terminal with FORCE_COLOR=0', true, { TERM: 'xterm', FORCE_COLOR: '0' }, false],
  ['a terminal with NO_COLOR', true, { TERM: 'xterm', NO_COLOR: '1' }, false],
  ['a terminal that knows no escape sequences', true, { TERM: 'dumb' }, false],
  [
    'a terminal with an empty NO_COLOR, which no-color.org treats as not set',
    true,
    { TERM: 'xterm', NO_COLOR: '' },
    true,
  ],
])('output for %s', async (_, isTTY, env, isColoured) => {
  const { stdout } = await runProgram(['lint', 'manifests/samples/bad-url.yaml'], { isTTY, env });
  expect(stdout).toContain('error');
  expect(stdout.includes('\u001b[')).toBe(isColoured);
});
