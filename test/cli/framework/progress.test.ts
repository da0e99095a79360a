import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createProgress, startProgress } from '../../../src/cli/framework/progress.ts';

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

test('progress of work that waits is shown by itself until the end of the block', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true });
  let done = 0;
  {
    using _progress = startProgress(terminal, () => `${done} done`);
    vi.advanceTimersByTime(1_000);
    done = 1;
    vi.advanceTimersByTime(200);
  }
  vi.advanceTimersByTime(1_000);
  expect(String(terminal.read()).split('\r\u001b[K')).toEqual(['', '0 done …', '1 done …', '']);
});
