import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createProgress } from '../../../src/cli/framework/progress.ts';

test('progress stays on one line, of which nothing is left', () => {
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 20 });
  const progress = createProgress(terminal);
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 2_000);
  onTestFinished(() => now.mockRestore());
  progress.show(() => 'an-extension-with-a-long-name: check 1 of 37');
  progress.clear();
  const [, shown, rest] = String(terminal.read()).split('\r\u001b[K');
  expect([shown, rest]).toEqual(['an-extension-with …', '']);
});
