import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../src/base/index.ts';
import { stopInTime } from '../../src/server/index.ts';
import { takeTime } from './clock.ts';
import { collectingLog } from './running.ts';

/** A log whose last lines are written at once, or never. */
const logThat = (isWritten: boolean): Log =>
  Object.assign(collectingLog().log, { flush: (onDone?: () => void) => void (isWritten && onDone?.()) });

test.each([
  [30_000, 28_000],
  [100, 80],
])('of %i ms a server has %i ms to stop: the rest is for the end of its connections and of its log', async (all, own) => {
  const given: number[] = [];
  expect(await stopInTime(logThat(true), all, async (timeoutMs) => void given.push(timeoutMs))).toBe(true);
  expect(given).toEqual([own]);
});

test.each([
  ['a server that does not stop', false, true, 90],
  ['a log that nobody reads', true, false, 10],
])('%s is not waited for any longer', async (_, stops, isWritten, ms) => {
  const time = takeTime();
  onTestFinished(time.restore);
  const never = new Promise<void>(() => {});
  let isDone: boolean | undefined;
  void stopInTime(logThat(isWritten), 100, () => (stops ? Promise.resolve() : never)).then((result) => {
    isDone = result;
  });
  await time.settle();
  await time.advance(ms - 1);
  expect(isDone).toBeUndefined();
  await time.advance(1);
  expect(isDone).toBe(false);
});

test('nothing keeps the process afterwards', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await stopInTime(logThat(true), 30_000, async () => {});
  expect(timers()).toBe(before);
});
