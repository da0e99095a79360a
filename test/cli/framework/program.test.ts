import { expect, test } from 'vitest';
import { coloured, plain } from '../../../src/base/index.ts';
import { type Io, paintFor } from '../../../src/cli/framework/program.ts';

test.each([
  ['a terminal', true, { TERM: 'xterm' }, coloured],
  ['a file or a pipe', undefined, { TERM: 'xterm' }, plain],
  ['a file or a pipe with FORCE_COLOR', undefined, { FORCE_COLOR: '1' }, coloured],
  ['a terminal with FORCE_COLOR=0', true, { TERM: 'xterm', FORCE_COLOR: '0' }, plain],
  ['a terminal with NO_COLOR', true, { TERM: 'xterm', NO_COLOR: '1' }, plain],
  ['a terminal that knows no escape sequences', true, { TERM: 'dumb' }, plain],
  [
    'a terminal with an empty NO_COLOR, which no-color.org treats as not set',
    true,
    { TERM: 'xterm', NO_COLOR: '' },
    coloured,
  ],
])('the paint for %s', (_, isTTY, env, paint) => {
  expect(paintFor({ stdout: { isTTY } as Io['stdout'], env })).toBe(paint);
});
