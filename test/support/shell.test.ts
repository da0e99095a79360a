import { expect, onTestFinished, test } from 'vitest';
import { startShell } from './shell.ts';

test('programs receive their arguments and input unchanged, and results are not mixed up', async () => {
  const shell = startShell({ ...process.env, KEPT: 'x' });
  onTestFinished(() => shell.stop());
  const words = ["it's", '$KEPT `ls`', 'a\nb', '', '\\'];
  const [printed, copied, failed] = await Promise.all([
    shell.run('printf', ['%s|', ...words]),
    shell.run('cat', [], 'line\nwithout end'),
    shell.run('sh', ['-c', 'echo "$KEPT"; echo problem >&2; exit 3']),
  ]);
  expect(printed).toEqual({ code: 0, stdout: words.map((word) => `${word}|`).join(''), stderr: '' });
  expect(copied).toEqual({ code: 0, stdout: 'line\nwithout end', stderr: '' });
  expect(failed).toEqual({ code: 3, stdout: 'x\n', stderr: 'problem\n' });
  expect(await shell.run('cat', [])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a shell that has ended is an error', async () => {
  const shell = startShell(process.env);
  onTestFinished(() => shell.stop());
  await expect(shell.run('sh', ['-c', 'kill $PPID'])).rejects.toThrow('the shell ended before sh did');
});
