import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startProgress } from '../../../src/cli/framework/progress.ts';

test('progress stays on one line, of which nothing is left', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const terminal = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 20 });
  using progress = startProgress(terminal, () => 'an-extension-with-a-long-name: check 1 of 37');
  vi.advanceTimersByTime(1_000);
  progress.clear();
  expect(String(terminal.read()).split('\r\u001b[K')).toEqual(['', 'an-extension-with …', '']);
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
