import { expect, test } from 'vitest';
import { runProgram } from '../commands/io.ts';

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
