import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellPath } from '../../../src/cli/framework/shell-path.ts';

test.each([
  ['/tmp/sandbox-1/kubeconfig', '/tmp/sandbox-1/kubeconfig'],
  ['/tmp/of me/ü', "'/tmp/of me/ü'"],
  ["it's $HOME", "'it'\\''s $HOME'"],
  ['-f', "'./-f'"],
])('%s is for a shell %s', (path, word) => {
  expect(shellPath(path)).toBe(word);
  const expected = path.startsWith('-') ? `./${path}` : path;
  expect(execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(expected);
});
