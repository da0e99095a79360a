import { mock } from 'node:test';

let last: Promise<unknown> = Promise.resolve();

/** Runs an action at a date that is ahead, one at a time. Timers and `performance` are as always. */
export function withDateAhead<T>(milliseconds: number, action: () => Promise<T>): Promise<T> {
  const result = last.then(async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() + milliseconds });
    try {
      return await action();
    } finally {
      mock.timers.reset();
    }
  });
  last = result.catch(() => {});
  return result;
}

/** A clock that the test advances, for `now` of `createJobs`. */
export function fakeClock(startMs = 0): { now: () => number; advance(seconds: number): void } {
  let current = startMs;
  return {
    now: () => current,
    advance(seconds) {
      current += seconds * 1000;
    },
  };
}
